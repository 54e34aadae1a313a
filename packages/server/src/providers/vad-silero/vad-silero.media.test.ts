import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { describeVadConformance, scoreAlone, vadWindows } from "../../ports/testing/vad-conformance.ts";
import type { ToWorker } from "./protocol.ts";
import { SileroModel } from "./silero-model.ts";
import { openThreadedVad } from "./threaded-vad.ts";
import { openSileroVad } from "./vad-silero.ts";
import { sileroThread } from "./vad-thread.ts";

const modelPath = fileURLToPath(new URL("../../../models/silero_vad.onnx", import.meta.url));
const jfk = readSpeechFixture("jfk.wav");
const SPEAKING = 0.5;

function share(scores: readonly number[]): number {
  return scores.filter((score) => score > SPEAKING).length / scores.length;
}

describeVadConformance("Silero", {
  open: () => openSileroVad({ modelPath }),
  speech: jfk,
  openLosable: async () => {
    const { promise: sender, resolve } = Promise.withResolvers<(message: ToWorker) => void>();
    const engine = await openThreadedVad(
      "silero",
      (listener) => {
        const thread = sileroThread(modelPath)(listener);
        resolve((message) => {
          thread.send(message);
        });
        return thread;
      },
      () => undefined,
    );
    const send = await sender;
    // A message without a buffer makes the thread throw outside of any catch: a real crash of it.
    const broken = { type: "crash" } as unknown as ToWorker;
    return {
      engine,
      lose: () => {
        send(broken);
      },
    };
  },
});

describe("Silero on recorded speech", () => {
  it("hears most of a speech with pauses and nothing in the silence after it", async () => {
    const engine = await openSileroVad({ modelPath });
    const scores = await scoreAlone(engine, vadWindows(jfk));
    expect(share(scores)).toBeGreaterThan(0.6);
    const quiet = new Int16Array(16_000 * 2);
    const after = await scoreAlone(engine, [...vadWindows(jfk), ...vadWindows(quiet)]);
    expect(share(after.slice(-40))).toBe(0);
    await engine.close();
  });

  it("finds the long pauses where they are", async () => {
    const engine = await openSileroVad({ modelPath });
    const scores = await scoreAlone(engine, vadWindows(readSpeechFixture("austen_long_pauses.wav")));
    await engine.close();
    const between = (fromMs: number, toMs: number): readonly number[] =>
      scores.slice(Math.ceil(fromMs / 32), Math.floor(toMs / 32));
    expect(share(between(500, 2_500))).toBeGreaterThan(0.8);
    // Where one clip ends and the noise of the gap begins at 2.99 s; the model lets go within 0.3 s.
    expect(share(between(3_300, 5_400))).toBe(0);
    expect(share(between(6_000, 10_000))).toBeGreaterThan(0.8);
  });

  it("hears nothing without the 64 samples before each window, which is why they are there", async () => {
    const network = await ort.InferenceSession.create(modelPath, { intraOpNumThreads: 1 });
    let state = new ort.Tensor("float32", new Float32Array(256), [2, 1, 128]);
    const sr = new ort.Tensor("int64", BigInt64Array.of(16_000n), []);
    const bare: number[] = [];
    for (const window of vadWindows(jfk)) {
      const input = new ort.Tensor(
        "float32",
        Float32Array.from(window, (sample) => sample / 32_768),
        [1, VAD_WINDOW_SAMPLES],
      );
      const answer = await network.run({ input, state, sr });
      state = answer["stateN"] as typeof state;
      bare.push(Number(answer["output"]?.data[0]));
    }
    await network.release();
    expect(share(bare)).toBeLessThan(0.05);

    const model = await SileroModel.load(modelPath, 1);
    const scores: number[] = [];
    const score = new Float32Array(1);
    for (const window of vadWindows(jfk)) {
      await model.score(1, Int32Array.of(7), window, score);
      scores.push(score[0] ?? NaN);
    }
    expect(share(scores)).toBeGreaterThan(0.6);
    expect(model.streamCount).toBe(1);
    model.forget(7);
    expect(model.streamCount).toBe(0);
    await model.release();
  });
});

describe("Silero with a model file that is", () => {
  it("missing says so", async () => {
    await expect(openSileroVad({ modelPath: "/no/such/model.onnx" })).rejects.toThrow("cannot start");
  });

  it("not a model says so and leaves the process alive", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "vad-")), "broken.onnx");
    writeFileSync(path, Buffer.alloc(10_000, 7));
    await expect(openSileroVad({ modelPath: path })).rejects.toThrow("cannot start");
  });
});
