import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeTtsConformance, durationMsOf, ttsRequest } from "../../ports/testing/tts-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { LocalModel } from "../local-child/local-model.ts";
import {
  MISSING_FOR_TTS,
  newToyFolder,
  orderOf,
  toyVoice,
  trackedStart,
  writeEspeakData,
} from "../local-child/testing/toy-models.ts";
import { MAX_TEXT_CHARS, openLocalTts } from "./tts-local.ts";

if (MISSING_FOR_TTS !== null)
  process.stderr.write("skipped: local voices, which need sherpa-onnx-node and the data of eSpeak NG\n");

const folder = newToyFolder();
afterAll(() => folder.remove());
let known: LocalModel | null = null;
const toy = (): LocalModel => (known ??= toyVoice(writeEspeakData(folder.path)));

const engines: TtsEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function open(fields: { readonly model?: LocalModel; readonly voice?: string } = {}) {
  const { pids, start } = trackedStart();
  const log: string[] = [];
  const { model = toy(), voice = null } = fields;
  const engine = await openLocalTts({
    order: orderOf(model),
    voice,
    startChild: start,
    log: (line) => log.push(line),
  });
  engines.push(engine);
  return { engine, pids, log };
}

const say = (engine: TtsEngine, text: string) => collect(engine.synthesize(ttsRequest(text), neverAborted()));

describe.skipIf(MISSING_FOR_TTS !== null)("a voice on this machine", () => {
  describeTtsConformance("a Piper voice", {
    open: async () => (await open()).engine,
    language: "en",
    openHanging: async () => {
      const { engine, pids } = await open();
      process.kill(pids[0] ?? 0, "SIGSTOP");
      return { engine, reached: Promise.resolve() };
    },
    openFailing: async () => {
      const { engine, pids } = await open();
      process.kill(pids[0] ?? 0, "SIGKILL");
      return engine;
    },
  });

  it("sends the first clause before the rest is made, and lets short texts through between pieces", async () => {
    const { engine } = await open();
    const order: string[] = [];
    const long = "This goes on and on, and on and on again. ".repeat(100);
    const longParts = say(engine, long).then(({ parts }) => {
      order.push("long");
      return parts;
    });
    const short = say(engine, "Yes.").then(() => order.push("short"));
    await Promise.all([longParts, short]);
    expect(order).toEqual(["short", "long"]);
    const [first] = (await longParts).filter((part) => part.type === "audio");
    expect(durationMsOf(first === undefined ? [] : [first])).toBeLessThan(5_000);
  });

  it("is started again when its process is killed; who was speaking hears of it, who waited does not", async () => {
    const { engine, pids, log } = await open();
    process.kill(pids[0] ?? 0, "SIGSTOP");
    const speaking = say(engine, "One.");
    const waiting = say(engine, "Two.");
    process.kill(pids[0] ?? 0, "SIGKILL");
    const { error } = await speaking;
    expect(error?.message).toContain("SIGKILL");
    expect(error?.name).toBe("EngineFailure");
    expect((await waiting).error).toBeNull();
    expect(pids).toHaveLength(2);
    expect(log).toHaveLength(1);
    expect(log[0]).not.toContain("One");
  });

  it("refuses a text that is too long, and a speaker that it lacks", async () => {
    const { engine } = await open({ voice: "nobody" });
    expect((await say(engine, "a".repeat(MAX_TEXT_CHARS + 1))).error?.message).toContain(
      "no voice named nobody",
    );
    const { engine: other } = await open();
    expect((await say(other, "a".repeat(MAX_TEXT_CHARS + 1))).error?.message).toContain("over 5000");
  });

  it("does not start with a recogniser's model", async () => {
    const model = { ...toy(), family: "whisper" } as const;
    await expect(open({ model })).rejects.toThrow(
      "the voice toy-voice cannot start: a model of the kind whisper",
    );
  });

  it("ends its own process only, where the model has not the form of a voice", async () => {
    const path = `${folder.path}/without-rate.onnx`;
    const content = readFileSync(toy().paths["model"] ?? "");
    content.write("sample_rane", content.indexOf("sample_rate"), "latin1");
    writeFileSync(path, content);
    const model = toyVoice(toy().paths["dataDir"] ?? "", path);
    await expect(open({ model })).rejects.toThrow("the voice toy-voice cannot start");
  });
});
