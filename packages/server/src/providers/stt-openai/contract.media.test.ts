/** What is sent to a transcription server, and what the fake answers, against the documented contract. */

import { afterAll, describe, expect, it } from "vitest";
import { renamedFields } from "../../ports/testing/renamed-fields.ts";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import type { SttEngine } from "../../ports/stt.ts";
import { Refusal, TranscriptionAnswer } from "./contract.ts";
import { openOpenAiStt } from "./stt-openai.ts";
import {
  formProblem,
  openFakeTranscriptions,
  TRANSCRIPTIONS_KEY,
  type FakeTranscriptions,
  type TranscriptionFault,
} from "./testing/fake-transcriptions.ts";

const servers: FakeTranscriptions[] = [];
const engines: SttEngine[] = [];
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await Promise.all(servers.map((server) => server.close()));
});

const half = (level: number): Int16Array => new Int16Array(8_000).fill(level);
const says = (samples: Int16Array): string => ["", "One.", "Two, please."][samples[0] ?? 0] ?? "";

async function open(fault: TranscriptionFault | null = null, apiKey = TRANSCRIPTIONS_KEY) {
  const server = await openFakeTranscriptions({ says, fault });
  servers.push(server);
  const engine = openOpenAiStt({ baseUrl: server.baseUrl, apiKey, model: "whisper-1" });
  engines.push(engine);
  return { server, engine };
}

describeSttConformance("a strict transcription server", {
  open: async () => (await open()).engine,
  spoken: [
    { samples: half(1), text: "One." },
    { samples: half(2), text: "Two, please." },
  ],
  unintelligible: half(3),
  openHanging: async () => {
    const { engine, server } = await open("hang");
    return { engine, reached: server.reached };
  },
  openFailing: async () => (await open("5xx")).engine,
});

async function ask(engine: SttEngine) {
  const record = new SttRecord();
  const stream = engine.open({ language: "en-GB" }, record);
  stream.open(1);
  pushAll(stream, 1, half(1));
  stream.request(1, 0);
  const [answer] = await record.answered(1);
  stream.close();
  return answer;
}

describe("the contract of a transcription server", () => {
  it("has all that is sent, and notices each field that changes", async () => {
    const { engine, server } = await open();
    expect(await ask(engine)).toMatchObject({ type: "final", text: "One." });
    const [form] = server.forms;
    expect(formProblem(form)).toBeNull();
    const renamed = renamedFields(form, new Set(["file"]));
    expect(renamed.map(({ path }) => path).toSorted()).toEqual([
      "file",
      "language",
      "model",
      "response_format",
    ]);
    for (const { document } of renamed) expect(formProblem(document)).not.toBeNull();
  });

  it("has the answers and the errors, of which each field is noticed", async () => {
    const { engine } = await open(null, "another-key");
    expect(await ask(engine)).toMatchObject({
      type: "failed",
      error: expect.stringContaining("401") as unknown,
    });
    for (const [schema, document] of [
      [TranscriptionAnswer, { text: "hello" }],
      [Refusal, { error: { message: "no", type: "t", param: null, code: null } }],
    ] as const) {
      expect(schema.safeParse(document).success).toBe(true);
      for (const { document: changed } of renamedFields(document, new Set()))
        expect(schema.safeParse(changed).success).toBe(false);
    }
  });
});
