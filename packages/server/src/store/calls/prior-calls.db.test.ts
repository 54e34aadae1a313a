import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { insertCall } from "./calls.ts";
import { appendMessage } from "./messages.ts";
import { getPriorCall } from "./prior-calls.ts";
import { markEnded, newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

describeOnBothDatabases("prior calls", (current) => {
  it("are returned with their secrets, and with the newest messages in order", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const settings = {
      systemPrompt: "Hi.",
      sharedSecrets: ["very-secret-1234"],
      dataConnectionConfig: { websocketUrl: "wss://example.com", headers: { "x-key": "very-secret" } },
    };
    const call = newCall({
      settings,
      metadata: { a: "b" },
      plan: { some: "plan" },
      initialMessages: [newMessage(0, { timespan: null, wallClockTimespan: null })],
    });
    await insertCall(db, accountId, call);
    const { callId, stage } = call;
    for (const index of [1, 2, 3]) {
      await appendMessage(db, accountId, callId, stage.stageId, newMessage(index));
    }
    expect(await getPriorCall(db, accountId, callId, 3)).toMatchObject({ hasEnded: false });
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, callId, end);
    const prior = await getPriorCall(db, accountId, callId, 3);
    expect(prior).toMatchObject({
      hasEnded: true,
      settings,
      metadata: { a: "b" },
      plan: { some: "plan" },
      lastStage: { settings: stage.settings },
    });
    expect(prior?.messages.map(({ index }) => index)).toEqual([1, 2, 3]);
  });

  it("are those of the account", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    expect(await getPriorCall(db, await newAccount(db), call.callId, 10)).toBeNull();
    expect(await getPriorCall(db, accountId, randomUUID(), 10)).toBeNull();
  });
});
