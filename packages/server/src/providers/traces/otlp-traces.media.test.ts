import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { TurnLatency } from "@parley/schema";
import { openTurnTraces } from "./otlp-traces.ts";

const CALL_ID = "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11";
const TURN: TurnLatency = {
  turnId: 3,
  endOfTurnMs: 384,
  transcriptFinalMs: 250,
  firstTokenMs: 400,
  firstSentenceMs: 430,
  firstAudioMs: null,
  firstPlayedMs: 520,
  speculative: true,
};

interface Sent {
  readonly path: string | undefined;
  readonly key: string | string[] | undefined;
  readonly body: string;
}

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function collector(answer: (sent: Sent) => number): Promise<string> {
  const opened = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      response.statusCode = answer({ path: request.url, key: request.headers["x-key"], body });
      response.setHeader("content-type", "application/json");
      response.end("{}");
    });
  });
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${String((opened.address() as AddressInfo).port)}/`;
}

interface SpanDocument {
  readonly name: string;
  readonly traceId: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: { key: string; value: Record<string, unknown> }[];
  readonly events: { name: string; timeUnixNano: string }[];
}

function spansOf({ body }: Sent): SpanDocument[] {
  const document = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: SpanDocument[] }[] }[];
  };
  return document.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function inMs(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000_000n);
}

test("a turn becomes one span from the end of speech to the first sound, in the trace of its call", async () => {
  const sent: Sent[] = [];
  const endpoint = await collector((request) => {
    sent.push(request);
    return 200;
  });
  const traces = openTurnTraces({
    endpoint,
    headers: { "x-key": "secret" },
    version: "9.9.9",
    warn: expectNoWarning,
  });
  traces.turnCompleted(CALL_ID, TURN, 1_700_000_000_520);
  traces.turnInterrupted(CALL_ID, "speech", 1_700_000_001_000);
  await traces.close();
  await traces.close();

  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ path: "/v1/traces", key: "secret" });
  const [turn, interruption] = sent.flatMap(spansOf);
  expect(turn).toMatchObject({ name: "turn", traceId: CALL_ID.replaceAll("-", "") });
  expect(inMs(turn?.startTimeUnixNano ?? "0")).toBe(1_700_000_000_000);
  expect(inMs(turn?.endTimeUnixNano ?? "0")).toBe(1_700_000_000_520);
  expect(
    turn?.events.map(({ name, timeUnixNano }) => [name, inMs(timeUnixNano) - 1_700_000_000_000]),
  ).toEqual([
    ["end of turn", 384],
    ["transcript final", 250],
    ["first token", 400],
    ["first sentence", 430],
  ]);
  const keys = turn?.attributes.map(({ key }) => key) ?? [];
  expect(keys).toContain("parley.turn.firstPlayedMs");
  expect(keys).not.toContain("parley.turn.firstAudioMs");
  expect(interruption).toMatchObject({ name: "interruption", traceId: CALL_ID.replaceAll("-", "") });
});

test("a collector that refuses or is not there costs nothing but its spans", async () => {
  const endpoint = await collector(() => 400);
  for (const url of [endpoint, "http://127.0.0.1:1"]) {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const traces = openTurnTraces({ endpoint: url, headers: {}, version: "1", warn });
    traces.turnCompleted(CALL_ID, TURN, Date.now());
    await expect(Promise.race([traces.close(), timeLimit()])).resolves.toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("did not take 1 spans")]);
  }
});

function expectNoWarning(message: string): void {
  throw new Error(message);
}

/** Longer than any send is allowed to take. */
function timeLimit(): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, 8_000, "still closing").unref());
}
