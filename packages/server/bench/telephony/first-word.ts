/**
 * The time from the start of a carrier's stream to the first word of a fixed greeting, with a voice that takes 400 ms for
 * its first audio: where the service wrote the carrier's instructions, and with a join URL that the user has put into
 * instructions of their own.
 */

import { randomUUID } from "node:crypto";
import { twilioSignature } from "../../src/providers/carriers/signatures.ts";
import { makeAgent, pause } from "../load.ts";
import { milliseconds, percentile } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { openLine } from "../lines/line.ts";
import { recordedFor, type Recorded } from "../lines/recorded.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 400 };
/** Between the carrier's webhook and its stream; a carrier takes about as long to connect, and a phone rings longer. */
const CONNECT_MS = 1_000;
const FIRST_WORD_LIMIT_MS = 10_000;
/** Calls that begin at the same time. */
const AT_ONCE = 4;
const ACCOUNT = { accountSid: "AC0123456789abcdef", authToken: "twilio-token-0123456789" };
const GREETING = "Welcome to the hotel at the lake. How can I help you today?";

type Announce = () => Promise<string>;

async function firstWordMs(announce: Announce, recorded: Recorded): Promise<number> {
  const joinUrl = await announce();
  await pause(CONNECT_MS);
  const { promise: begun, resolve } = Promise.withResolvers<number>();
  const line = await openLine(joinUrl, recorded, { audio: resolve });
  const limit = setTimeout(() => resolve(Number.POSITIVE_INFINITY), FIRST_WORD_LIMIT_MS);
  const firstMs = await begun;
  clearTimeout(limit);
  await line.hangUp();
  return firstMs - line.startedMs;
}

async function firstWordsMs(calls: number, announce: Announce, recorded: Recorded): Promise<number[]> {
  const measured: number[] = [];
  const one = async (): Promise<void> => {
    for (let left = calls / AT_ONCE; left > 0; left -= 1)
      measured.push(await firstWordMs(announce, recorded));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return measured;
}

/** The carrier's webhook, and the stream in the XML of its answer. */
function byWebhook({ baseUrl }: BenchService, agentId: string): Announce {
  return async () => {
    const url = `${baseUrl}/api/agents/${agentId}/telephony_xml`;
    const fields = {
      CallSid: `CA${randomUUID()}`,
      CallStatus: "ringing",
      From: "+4930123456",
      To: "+4930654321",
    };
    const params = Object.entries(fields);
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": twilioSignature(ACCOUNT.authToken, url, params),
      },
      body: new URLSearchParams(params).toString(),
    });
    const xml = await answer.text();
    const streamUrl = /wss?:\/\/[^"<]+/.exec(xml)?.[0];
    if (streamUrl === undefined) throw new Error(`no stream in the answer ${String(answer.status)}: ${xml}`);
    return streamUrl;
  };
}

/** @returns rows of a table */
export async function firstWords(calls: number): Promise<string> {
  const service = await startBenchService(DELAYS);
  try {
    await service.rest("POST", "/api/telephony_configs/telephony1", {
      ...ACCOUNT,
      callCreationAllowAllAgents: true,
    });
    const agentId = await makeAgent(service.rest, {
      medium: { telephony1: {} },
      firstSpeakerSettings: { agent: { text: GREETING } },
    });
    const byJoinUrl: Announce = async () =>
      (await service.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {})).joinUrl;
    const silent = recordedFor("telephony1", new Int16Array(0));
    const rows: string[] = [];
    for (const [name, announce] of [
      ["the service", byWebhook(service, agentId)],
      ["the user", byJoinUrl],
    ] as const) {
      const measured = await firstWordsMs(calls, announce, silent);
      const cell = (share: number): string => milliseconds(percentile(measured, share));
      rows.push(`| ${name} | ${String(measured.length)} | ${cell(0.5)} | ${cell(0.95)} | ${cell(1)} |`);
    }
    return rows.join("\n");
  } finally {
    await service.stop();
  }
}
