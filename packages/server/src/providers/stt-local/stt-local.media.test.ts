import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { STT_SAMPLE_RATE_HZ, type SttEngine } from "../../ports/stt.ts";
import type { LoadOrder } from "../local-child/local-model.ts";
import {
  checkedFile,
  MISSING_FOR_STT,
  newToyFolder,
  orderOf,
  startFragile,
  tonesOf,
  toyRecogniser,
  toyWholeRecogniser,
  trackedStart,
} from "../local-child/testing/toy-models.ts";
import { openLocalStt, type LocalSttOptions } from "./stt-local.ts";

if (MISSING_FOR_STT !== null)
  process.stderr.write("skipped: local recognisers, for the package sherpa-onnx-node is not installed\n");

const folder = newToyFolder();
afterAll(() => folder.remove());

const engines: SttEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function open(options: Partial<LocalSttOptions> = {}) {
  const { pids, start } = trackedStart();
  const log: string[] = [];
  const engine = await openLocalStt({
    order: orderOf(toyRecogniser()),
    startChild: start,
    log: (line) => log.push(line),
    ...options,
  });
  engines.push(engine);
  return { engine, pids, log };
}

const stopped = (pid: number | undefined): void => void process.kill(pid ?? 0, "SIGSTOP");

describe.skipIf(MISSING_FOR_STT !== null)("a recogniser on this machine", () => {
  for (const [name, toy] of [
    ["a streaming model", toyRecogniser],
    ["a model of whole utterances", toyWholeRecogniser],
  ] as const) {
    describeSttConformance(name, {
      open: async () => (await open({ order: orderOf(toy()) })).engine,
      spoken: [
        { samples: tonesOf("low", "mid", "high", "top"), text: "low mid high top" },
        { samples: tonesOf("top", "low"), text: "top low" },
      ],
      unintelligible: new Int16Array(STT_SAMPLE_RATE_HZ),
      foreignLanguage: "fr",
      openHanging: async () => {
        const { engine, pids } = await open({ order: orderOf(toy()) });
        stopped(pids[0]);
        return { engine, reached: Promise.resolve() };
      },
      openFailing: async () => (await open({ order: orderOf(toy()), startChild: startFragile })).engine,
    });
  }

  it("tells words while they are spoken, and none twice after an early answer", async () => {
    const { engine } = await open();
    const partials: string[] = [];
    const record = new SttRecord();
    const told = Promise.withResolvers<void>();
    const stream = engine.open(
      { language: null },
      {
        partial: (_, text) => {
          partials.push(text);
          if (text === "low mid high") told.resolve();
        },
        final: (...final) => record.final(...final),
        failed: (...failed) => record.failed(...failed),
        warned: (message) => record.warned(message),
      },
    );
    stream.open(1);
    pushAll(stream, 1, tonesOf("low", "mid"));
    stream.request(1, 0);
    await record.answered(1);
    pushAll(stream, 1, tonesOf("high"));
    pushAll(stream, 1, new Int16Array(STT_SAMPLE_RATE_HZ));
    await told.promise;
    stream.request(1, 1);
    await record.answered(2);
    expect(record.answers.map((answer) => ("text" in answer ? answer.text : answer.error))).toEqual([
      "low mid",
      "low mid high",
    ]);
    const lengths = partials.map((text) => text.length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });

  it("is started again when its process is killed; the utterance is recognised from its kept audio", async () => {
    const { engine, pids, log } = await open();
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    stream.open(1);
    pushAll(stream, 1, tonesOf("low", "mid"));
    stopped(pids[0]);
    stream.request(1, 0);
    process.kill(pids[0] ?? 0, "SIGKILL");
    await record.answered(1);
    expect(record.answers[0]).toMatchObject({
      type: "failed",
      revision: 0,
      error: expect.stringContaining("SIGKILL"),
    });
    // The audio of before the loss is part of the next answer.
    pushAll(stream, 1, tonesOf("high"));
    stream.request(1, 1);
    await record.answered(2);
    expect(record.answers[1]).toMatchObject({ type: "final", revision: 1, text: "low mid high" });
    expect(pids).toHaveLength(2);
    expect(engine.unusable?.()).toBeNull();
    expect(log).toEqual([expect.stringContaining("starts again after its thread was lost")]);
  });

  it("is unusable while it is started again and again, and fails requests at once", async () => {
    const { engine, pids } = await open();
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    for (let loss = 1; engine.unusable?.() === null; loss += 1) {
      const pid = pids.at(-1) ?? 0;
      process.kill(pid, "SIGKILL");
      await expect.poll(() => engine.unusable?.() !== null || pids.length > loss).toBe(true);
      await expect.poll(() => engine.unusable?.() !== null || isLoaded(engine)).toBe(true);
    }
    expect(engine.unusable?.()).toContain("is gone");
    stream.open(1);
    pushAll(stream, 1, tonesOf("low"));
    stream.request(1, 0);
    expect(await record.answered(1)).toMatchObject([
      { type: "failed", error: expect.stringContaining("is gone") },
    ]);
  });

  /** It answers: the process that follows is ready. */
  async function isLoaded(engine: SttEngine): Promise<boolean> {
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    stream.open(1);
    pushAll(stream, 1, tonesOf("low"));
    stream.request(1, 0);
    const [answer] = await record.answered(1);
    stream.close();
    return answer?.type === "final";
  }

  it("keeps long and short utterances of many calls apart, and answers a short one first", async () => {
    const { engine } = await open();
    const order: string[] = [];
    const ask = async (name: string, samples: Int16Array): Promise<string> => {
      const record = new SttRecord();
      const stream = engine.open({ language: null }, record);
      stream.open(1);
      for (let at = 0; at < samples.length; at += STT_SAMPLE_RATE_HZ)
        stream.push(1, samples.subarray(at, at + STT_SAMPLE_RATE_HZ));
      stream.request(1, 0);
      const [answer] = await record.answered(1);
      order.push(name);
      return answer?.type === "final" ? answer.text : (answer?.error ?? "");
    };
    const many = Array.from({ length: 20 }, () => ["low", "top"] as const).flat();
    const [long, short] = await Promise.all([ask("long", tonesOf(...many)), ask("short", tonesOf("mid"))]);
    expect(long).toBe(many.join(" "));
    expect(short).toBe("mid");
    expect(order).toEqual(["short", "long"]);
  });
});

describe.skipIf(MISSING_FOR_STT !== null)("a damaged model", () => {
  const good = toyRecogniser();
  const fileOf = (name: string, content: Uint8Array): string => {
    const path = join(folder.path, name);
    writeFileSync(path, content);
    return path;
  };
  const refused = async (order: LoadOrder): Promise<string> =>
    open({ order }).then(
      () => "opened",
      (error: unknown) => String(error),
    );

  it("is found before it is loaded, where a byte or the length has changed", async () => {
    const content = readFileSync(good.paths["model"] ?? "");
    const changed = Buffer.from(content);
    changed[700] = (changed[700] ?? 0) ^ 1;
    const checked = checkedFile(good.paths["model"] ?? "");
    for (const [name, bytes, reason] of [
      ["changed.onnx", changed, "has changed since it was pulled"],
      ["short.onnx", content.subarray(0, 500), "has 500 bytes in place of 1370"],
    ] as const) {
      const path = fileOf(name, bytes);
      const model = { ...good, paths: { ...good.paths, model: path }, files: [{ ...checked, path }] };
      expect(await refused(orderOf(model))).toContain(`its file ${name} ${reason}`);
    }
    const model = { ...good, files: [{ ...checked, path: join(folder.path, "none.onnx") }] };
    expect(await refused(orderOf(model))).toContain("its file none.onnx is missing");
  });

  it.each([
    ["half a model", 0.5],
    ["nothing of a model", 0],
  ])("ends its own process only, where it matches what was pulled: %s", async (name, share) => {
    const content = readFileSync(good.paths["model"] ?? "");
    const path = fileOf(`${name}.onnx`, content.subarray(0, content.length * share));
    const said = await refused(orderOf(toyRecogniser(path)));
    expect(said).toContain("the recogniser toy-recogniser cannot start");
  });

  it("says what is wrong where the package is missing, and where the model is of another kind", async () => {
    const missing = { ...orderOf(good), packageFolder: join(folder.path, "no-package") };
    expect(await refused(missing)).toContain("cannot start");
    const voice = { ...good, family: "vits" } as const;
    expect(await refused(orderOf(voice))).toContain("is no recogniser");
  });
});
