/** The assembled service: the sound of single messages, how a call is counted, and what remains after its deletion. */

import { glob } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import { until, wait } from "../src/runner/testing/call-client.ts";
import { openRunningService, type MessageRecord, type RunningService } from "./running-service.ts";

/** Keeps the sound of one message away from the next one, where a busy machine plays it late. */
const PAUSE_MS = 1_000;

let service: RunningService;

beforeAll(async () => {
  service = await openRunningService({ metering: { unitMs: 60_000, enabled: true, consoleIsFree: true } });
});

afterAll(async () => {
  await service.close();
});

interface Said extends MessageRecord {
  readonly callStageId: string;
  readonly callStageMessageIndex: number;
  readonly timespan: { readonly start: string; readonly end: string };
}

/** Samples of one side that are louder than noise. */
function loud(samples: Int16Array, side: 0 | 1): number {
  return samples.filter((sample, i) => i % 2 === side && Math.abs(sample) > 3_000).length;
}

async function recordingFiles(callId: string): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(join(tmpdir(), "parley-test-*", "recordings", `${callId}.wav`)))
    files.push(file);
  return files;
}

test("a call is metered, each message can be heard, and its deletion leaves figures alone", async () => {
  const { callId, client } = await service.call({ recordingEnabled: true, voice: "quick" });
  const path = `/api/calls/${callId}`;
  const finals = (): number => client.of("transcript").filter(({ final }) => final).length;
  await until(() => finals() === 1, "the greeting");
  await wait(PAUSE_MS);
  await client.say(600);
  await until(() => finals() === 3, "the answer");
  expect((await service.ask("DELETE", path)).status).toBe(425);
  client.socket.close(1000);
  await service.endedSoon(callId);
  const call = await service.get<Record<string, unknown>>(path);
  expect(call).toMatchObject({ billedDuration: "60s", billingStatus: "BILLING_STATUS_BILLED" });

  const messages = (await service.messages(callId)) as readonly Said[];
  expect(messages.map(({ role }) => role.replace("MESSAGE_ROLE_", ""))).toEqual(["AGENT", "USER", "AGENT"]);
  const heard = { AGENT: { own: 0, others: 0 }, USER: { own: 0, others: 0 } };
  for (const { role, callStageId, callStageMessageIndex, timespan } of messages) {
    const answer = await service.ask(
      "GET",
      `${path}/stages/${callStageId}/messages/${String(callStageMessageIndex)}/audio`,
    );
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "audio/wav"]);
    const { sampleRateHz, channels, samples } = readWav(answer.bytes);
    expect([sampleRateHz, channels]).toEqual([16_000, 2]);
    const seconds = Number.parseFloat(timespan.end) - Number.parseFloat(timespan.start);
    expect(Math.abs(samples.length / 2 / 16_000 - seconds)).toBeLessThan(0.002);
    const isUser = role === "MESSAGE_ROLE_USER";
    expect(loud(samples, isUser ? 0 : 1)).toBeGreaterThan(1_600);
    heard.USER[isUser ? "own" : "others"] += loud(samples, 0);
    heard.AGENT[isUser ? "others" : "own"] += loud(samples, 1);
  }
  // A busy machine plays late, so that the end of one message may lie in the next.
  for (const { own, others } of [heard.USER, heard.AGENT]) expect(others).toBeLessThan(own / 2);

  const usage = await service.get<{ allTime: object }>("/api/accounts/me/usage/calls");
  expect(usage.allTime).toMatchObject({ totalCount: 1, joinedCount: 1, errorCount: 0, billedMinutes: 1 });
  expect(await recordingFiles(callId)).toHaveLength(1);
  expect((await service.ask("DELETE", path)).status).toBe(204);
  expect(await recordingFiles(callId)).toEqual([]);
  for (const part of ["", "/recording", "/event_log"]) {
    expect((await service.ask("GET", path + part)).status).toBe(404);
  }
  expect(await service.get(`/api/deleted_calls/${callId}`)).toMatchObject({
    endReason: "hangup",
    recordingEnabled: true,
  });
  expect(await service.get("/api/accounts/me/usage/calls")).toEqual(usage);
});
