import { randomUUID } from "node:crypto";
import type { CallTool } from "@parley/schema";
import { expect, it } from "vitest";
import { listCallTools, listStageTools } from "./call-tools.ts";
import { getCall, insertCall } from "./calls.ts";
import type { Db } from "../database/db.ts";
import { appendMessage, listMessages, type MessageFilter } from "./messages.ts";
import { saveSideTokens } from "./side-tokens.ts";
import { saveToolErrors, getStage, insertStage, listStages, saveTokenCounts } from "./stages.ts";
import { newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const firstPage = { limit: 100, after: null, direction: "forward" } as const;
const untimed = { timespan: null, wallClockTimespan: null };

function tool(name: string, changes: Partial<CallTool> = {}): CallTool {
  return { callToolId: randomUUID(), toolId: null, name, definition: { description: name }, ...changes };
}

async function texts(db: Db, accountId: string, callId: string, filter: MessageFilter): Promise<string[]> {
  const { rows } = await listMessages(db, accountId, callId, filter, firstPage);
  return rows.map(({ text, index }) => `${index} ${text}`);
}

describeOnBothDatabases("later stages", (current) => {
  it("are added after the last one, once, with their tools", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    const tools = [tool("a"), tool("b", { toolId: randomUUID() })];
    await insertCall(db, accountId, { ...call, stage: { ...call.stage, tools } });
    const stage = {
      stageId: randomUUID(),
      settings: { systemPrompt: "Second.", externalVoice: { generic: { headers: { A: "voice-secret" } } } },
      tools: [tool("c"), tool("a")],
      inheritsMessages: true,
      createdAt: new Date(5_000),
    };
    expect(await insertStage(db, accountId, call.callId, stage)).toBe(true);
    expect(await insertStage(db, accountId, call.callId, stage)).toBe(false);
    const third = { ...stage, stageId: randomUUID(), tools: [] };
    expect(await insertStage(db, accountId, call.callId, third)).toBe(true);
    const { rows } = await listStages(db, accountId, call.callId, firstPage);
    expect(rows.map(({ stageId, position }) => [stageId, position])).toEqual([
      [call.stage.stageId, 0],
      [stage.stageId, 1],
      [third.stageId, 2],
    ]);
    expect(rows[1]).toMatchObject({
      createdAt: "1970-01-01T00:00:05.000Z",
      settings: { systemPrompt: "Second." },
    });
    expect(JSON.stringify(rows)).not.toContain("voice-secret");
    expect(await listStageTools(db, accountId, call.callId, call.stage.stageId)).toEqual(tools);
    expect(await listStageTools(db, accountId, call.callId, stage.stageId)).toEqual(stage.tools);
    const all = await listCallTools(db, accountId, call.callId);
    expect(all).toEqual([...tools, stage.tools[0]]);
  });

  it("of another account's call are neither added nor counted nor listed", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, accountId, { ...call, stage: { ...call.stage, tools: [tool("a")] } });
    const stage = {
      stageId: randomUUID(),
      settings: {},
      tools: [tool("x")],
      inheritsMessages: true,
      createdAt: new Date(),
    };
    expect(await insertStage(db, stranger, call.callId, stage)).toBe(false);
    expect(await saveToolErrors(db, stranger, call.callId, call.stage.stageId, 1)).toBe(false);
    expect(await listStageTools(db, stranger, call.callId, call.stage.stageId)).toEqual([]);
    expect(await listCallTools(db, stranger, call.callId)).toEqual([]);
    expect(await getStage(db, accountId, call.callId, call.stage.stageId)).toMatchObject({ errorCount: 0 });
    expect((await listStages(db, accountId, call.callId, firstPage)).total).toBe(1);
  });

  it("store the tokens of their requests, also when the same numbers are written again", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, accountId, call);
    const { stageId } = call.stage;
    const read = () => getStage(db, accountId, call.callId, stageId);
    expect(await read()).toMatchObject({ initialTokenCount: null, latestTokenCount: null });
    const counts = { stageId, initial: 7, latest: 2_147_483_647 };
    expect(await saveTokenCounts(db, stranger, call.callId, counts)).toBe(false);
    for (const _ of [1, 2]) expect(await saveTokenCounts(db, accountId, call.callId, counts)).toBe(true);
    expect(await read()).toMatchObject({ initialTokenCount: 7, latestTokenCount: 2_147_483_647 });
  });

  it("leave the tokens of side threads to the call, which keeps the higher counts", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const call = newCall();
    await insertCall(db, accountId, call);
    const save = (of: string, inputTokens: number, outputTokens: number) =>
      saveSideTokens(db, of, call.callId, { inputTokens, outputTokens });
    expect(await save(stranger, 9, 9)).toBe(false);
    expect(await getCall(db, accountId, call.callId)).toMatchObject({ sideInputTokens: null });
    for (const input of [5_000_000_000, 5_000_000_000, 7]) expect(await save(accountId, input, 3)).toBe(true);
    expect(await getCall(db, accountId, call.callId)).toMatchObject({
      sideInputTokens: 5_000_000_000,
      sideOutputTokens: 3,
    });
  });

  it("store how many tools have failed, also when the same number is written again", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    const save = (failures: number): Promise<boolean> =>
      saveToolErrors(db, accountId, call.callId, call.stage.stageId, failures);
    expect(await save(1)).toBe(true);
    for (const failures of [2, 2, 1]) await save(failures);
    expect(await getStage(db, accountId, call.callId, call.stage.stageId)).toMatchObject({ errorCount: 2 });
  });

  it("continue with the messages before them, unless they begin with their own", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ initialMessages: [newMessage(0, { text: "given", ...untimed })] });
    await insertCall(db, accountId, call);
    const first = call.stage.stageId;
    const [second, third, fourth] = [randomUUID(), randomUUID(), randomUUID()];
    const add = async (stageId: string, inheritsMessages: boolean) =>
      insertStage(db, accountId, call.callId, {
        stageId,
        settings: {},
        tools: [],
        inheritsMessages,
        createdAt: new Date(),
      });
    const say = async (stageId: string, index: number, changes: object) =>
      appendMessage(db, accountId, call.callId, stageId, newMessage(index, changes));
    await say(first, 0, { text: "given", ...untimed });
    await say(first, 1, { text: "one" });
    await add(second, true);
    await say(second, 2, { text: "two" });
    await add(third, false);
    await say(third, 0, { text: "own", ...untimed });
    await say(third, 1, { text: "three" });
    await add(fourth, true);
    await say(fourth, 2, { text: "four" });
    const listed = async (filter: MessageFilter) => texts(db, accountId, call.callId, filter);
    expect(await listed({ mode: "stage", stageId: first })).toEqual(["0 given", "1 one"]);
    expect(await listed({ mode: "stage", stageId: second })).toEqual(["0 given", "1 one", "2 two"]);
    expect(await listed({ mode: "stage", stageId: third })).toEqual(["0 own", "1 three"]);
    expect(await listed({ mode: "stage", stageId: fourth })).toEqual(["0 own", "1 three", "2 four"]);
    expect(await listed({ mode: "last_stage" })).toEqual(["0 own", "1 three", "2 four"]);
    expect(await listed({ mode: "in_call" })).toEqual(["1 one", "2 two", "1 three", "2 four"]);
  });
});
