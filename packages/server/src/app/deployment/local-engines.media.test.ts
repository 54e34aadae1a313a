import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/config.ts";
import { chooseEngine } from "../../config/stored-engines.ts";
import { CATALOGUE, type CatalogueModel, SHERPA_PACKAGE } from "../../models/catalogue.ts";
import { modelsFolder } from "../../models/models-folder.ts";
import { pullModel } from "../../models/pull.ts";
import { openFileServer, tarOf } from "../../models/testing/archives.ts";
import { pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { MISSING_FOR_STT, tonesOf, toyRecogniser } from "../../providers/local-child/testing/toy-models.ts";
import type { EngineChoices } from "./live-engines.ts";
import { openEngines } from "../engines.ts";
import { localOrders, sayBestModel } from "./local-engines.ts";
import { openLocalStt } from "../../providers/stt-local/stt-local.ts";

if (MISSING_FOR_STT !== null)
  process.stderr.write("skipped: a pulled recogniser, for the package sherpa-onnx-node is not installed\n");

let dataDir = "";
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-local-engines-"));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const toy = toyRecogniser();
const packages = CATALOGUE[0]?.packages ?? {};
const TOY: CatalogueModel = {
  name: "toy",
  kind: "stt",
  family: toy.family,
  description: "a toy",
  licence: "Apache-2.0",
  languages: ["en"],
  address: "https://example.com/toy.tar.gz",
  bytes: 5_000,
  sha256: null,
  folder: "toy",
  parts: { model: "toy-ctc.onnx", tokens: "tokens.txt" },
  voices: [],
  packages,
};

async function pullToy(): Promise<void> {
  const server = await openFileServer();
  const content = (role: string): Buffer => readFileSync(toy.paths[role] ?? "");
  server.files.set(
    "/toy.tar.gz",
    gzipSync(
      tarOf(
        { name: "toy/toy-ctc.onnx", content: content("model") },
        { name: "toy/tokens.txt", content: content("tokens") },
      ),
    ),
  );
  await pullModel({
    model: TOY,
    folder: modelsFolder(dataDir),
    mirror: server.url,
    acceptsNew: false,
    env: process.env,
    say: () => undefined,
    progress: () => undefined,
  });
  await server.close();
}

const configOf = (env: Record<string, string>) => loadConfig({ DATA_DIR: dataDir, ...env });

describe("models of this machine", () => {
  it("stop the start with a sentence where they are unknown or not installed", async () => {
    const orders = (env: Record<string, string>) => () => localOrders(configOf(env), [...CATALOGUE, TOY]);
    expect(orders({})()).toEqual({ stt: null, llm: null, tts: null, named: [] });
    expect(orders({ STT_LOCAL_MODEL: "nothing" })).toThrow(
      /^STT_LOCAL_MODEL is nothing, which is no recogniser of the list: it has zipformer-en, /,
    );
    expect(orders({ TTS_LOCAL_MODEL: "zipformer-en" })).toThrow(/which is no voice of the list/);
    expect(orders({ STT_LOCAL_MODEL: "zipformer-en" })).toThrow(
      "STT_LOCAL_MODEL is zipformer-en, which is not installed: run `npx parley models pull zipformer-en`",
    );
    expect(orders({ LLM_LOCAL_MODEL: "qwen2.5-0.5b" })).toThrow(
      "LLM_LOCAL_MODEL is qwen2.5-0.5b, which is not installed: run `npx parley models pull qwen2.5-0.5b`",
    );
    expect(orders({ MODEL_ALIASES: "small=local:zipformer-en" })).toThrow(
      /^The target of MODEL_ALIASES is zipformer-en, which is no language model of the list: it has qwen2.5-1.5b, /,
    );
    const start = openEngines(configOf({ TTS_LOCAL_MODEL: "kokoro-en" }), silent);
    await expect(start).rejects.toMatchObject({ name: "ConfigError" });
  });

  it.each([
    [
      { STT_LOCAL_MODEL: "a", STT_BASE_URL: "http://x/v1", STT_MODEL: "m" },
      "STT_LOCAL_MODEL and STT_BASE_URL",
    ],
    [{ TTS_LOCAL_MODEL: "a", TTS_API_KEY: "k" }, "TTS_LOCAL_MODEL and TTS_API_KEY"],
    [{ STT_LOCAL_MODEL: "a", OPENAI_API_KEY: "k" }, "Set LLM_API_KEY in its place"],
    [{ LLM_LOCAL_MODEL: "a", OPENAI_API_KEY: "k" }, "Set STT_API_KEY and TTS_API_KEY in its place"],
    [
      { LLM_LOCAL_MODEL: "a", LLM_BASE_URL: "http://x/v1", LLM_MODEL: "m" },
      "LLM_LOCAL_MODEL and LLM_BASE_URL",
    ],
    [{ LLM_LOCAL_MODEL: "a", LLM_AUDIO_INPUT: "true" }, "LLM_LOCAL_MODEL selects one that takes no audio"],
  ])("exclude a server for the same engine: %j", (env, said) => {
    expect(() => configOf(env)).toThrow(said);
  });

  it("are set by the environment, so that nothing that is stored replaces them", () => {
    const { modelFields } = configOf({ TTS_LOCAL_MODEL: "kokoro-en" });
    const stored = { baseUrl: "http://127.0.0.1:1/v1", apiKey: null, model: "m", voice: "v" };
    expect(chooseEngine("tts", modelFields, stored)).toMatchObject({
      source: "environment",
      target: null,
      setBy: { baseUrl: "TTS_LOCAL_MODEL", voice: "TTS_LOCAL_MODEL" },
      unusedReason: expect.stringContaining("TTS_LOCAL_MODEL selects a model of this machine"),
    });
    expect(chooseEngine("stt", modelFields, stored).source).toBe("stored");
  });

  it.skipIf(MISSING_FOR_STT !== null)(
    "work from the pull to the words, and are refused once damaged",
    async () => {
      await pullToy();
      const config = configOf({ STT_LOCAL_MODEL: "toy", LOCAL_MODEL_THREADS: "1" });
      const { stt } = localOrders(config, [TOY]);
      if (stt === null) throw new Error("there is no order");
      expect([stt.threads, stt.packageFolder.endsWith(SHERPA_PACKAGE)]).toEqual([1, true]);
      const engine = await openLocalStt({ order: stt });
      const record = new SttRecord();
      const stream = engine.open({ language: "en" }, record);
      stream.open(1);
      pushAll(stream, 1, tonesOf("high", "low"));
      stream.request(1, 0);
      expect(await record.answered(1)).toMatchObject([{ type: "final", text: "high low" }]);
      await engine.close();
      writeFileSync(join(modelsFolder(dataDir), "toy", "toy-ctc.onnx"), "damaged");
      await expect(openLocalStt({ order: stt })).rejects.toThrow("toy-ctc.onnx has 7 bytes");
    },
  );
});

const silent = { info: () => undefined, warn: () => undefined } as unknown as Parameters<
  typeof openEngines
>[1];

describe("the advice of the start", () => {
  type Source = "built_in" | "stored";
  const choices = (stt: Source, llm: Source, tts: Source): EngineChoices => {
    const choice = {
      target: null,
      unusedReason: null,
      setBy: { baseUrl: null, apiKey: null, model: null, voice: null },
    };
    return {
      stt: { source: stt, ...choice },
      llm: { source: llm, ...choice },
      tts: { source: tts, ...choice },
    };
  };
  const adviceFor = (chosen: EngineChoices): string[] => {
    const lines: string[] = [];
    const logger = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };
    sayBestModel(chosen, configOf({}), logger as never);
    return lines;
  };

  it("is one line: for the recogniser, then the model, the voice, the turn detector, then nothing", () => {
    expect(adviceFor(choices("built_in", "built_in", "built_in"))).toEqual([
      "models: `npx parley models pull zipformer-en` (57 MB) would improve this agent most, then start with STT_LOCAL_MODEL=zipformer-en: it then understands all speech",
    ]);
    expect(adviceFor(choices("stored", "built_in", "built_in"))).toEqual([
      "models: `npx parley models pull qwen2.5-1.5b` (1117 MB) would improve this agent most, then start with LLM_LOCAL_MODEL=qwen2.5-1.5b: it then answers in its own words",
    ]);
    expect(adviceFor(choices("stored", "stored", "built_in"))[0]).toContain("piper-en-cori` (67 MB)");
    expect(adviceFor(choices("stored", "stored", "stored"))[0]).toContain(
      "models pull smart-turn-v3` (8.7 MB)",
    );
    mkdirSync(modelsFolder(dataDir), { recursive: true });
    writeFileSync(join(modelsFolder(dataDir), "smart-turn-v3.onnx"), "");
    expect(adviceFor(choices("stored", "stored", "stored"))).toEqual([]);
  });

  it("names a model that is there and not used", () => {
    const lock = { format: 1, models: { "moonshine-tiny-en": { address: "", fetched: {}, files: [] } } };
    writeFileSync(join(modelsFolder(dataDir), "lock.json"), JSON.stringify(lock));
    expect(adviceFor(choices("built_in", "built_in", "stored"))).toEqual([
      "models: moonshine-tiny-en is on this machine and not used; start with STT_LOCAL_MODEL=moonshine-tiny-en: it then understands all speech",
    ]);
    writeFileSync(join(modelsFolder(dataDir), "lock.json"), "{");
    expect(adviceFor(choices("built_in", "built_in", "stored"))[0]).toContain("is damaged");
  });
});
