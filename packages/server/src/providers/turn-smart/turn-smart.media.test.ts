import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { describeTurnDetectorConformance } from "../../ports/testing/turn-detector-conformance.ts";
import type { TurnDetector, TurnQuestion } from "../../ports/turn-detector.ts";
import { smartTurnFeatures } from "./features.ts";
import type { FromWorker } from "./protocol.ts";
import { smartTurnThread, type StartSmartTurnThread } from "./smart-turn-thread.ts";
import { standInModel } from "./testing/stand-in-model.ts";
import { openQueuedSmartTurn, openSmartTurn, SMART_TURN_QUEUE_QUESTIONS } from "./turn-smart.ts";

const directory = mkdtempSync(join(tmpdir(), "smart-turn-"));

function modelFile(name: string, bytes: Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  return path;
}

const modelPath = modelFile("stand-in.onnx", standInModel());
const speech = readSpeechFixture("jfk.wav");

function questionOf(audio: Int16Array | null): TurnQuestion {
  return { text: "", agentText: "", language: null, audio };
}

/** What the stand-in makes of the features: the sigmoid of their mean. */
function expectedOf(audio: Int16Array): number {
  const features = smartTurnFeatures(audio);
  const mean = features.reduce((sum, value) => sum + value, 0) / features.length;
  return 1 / (1 + Math.exp(-mean));
}

const opened: TurnDetector[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((detector) => detector.close()));
});

function keep(detector: TurnDetector): TurnDetector {
  opened.push(detector);
  return detector;
}

const never = new AbortController().signal;

describeTurnDetectorConformance("Smart Turn", {
  open: () => openSmartTurn({ modelPath }),
  listens: true,
  questions: [questionOf(speech.slice(0, 32_000)), questionOf(speech)],
});

describe("the audio turn detector", () => {
  it("gives the network the features of the last 8 s and returns its answer", async () => {
    const detector = keep(await openSmartTurn({ modelPath }));
    for (const audio of [speech, speech.slice(0, 10_000), new Int16Array(16_000)]) {
      const judgement = await detector.judge(questionOf(audio), never);
      expect(judgement?.finished).toBeCloseTo(expectedOf(audio), 4);
    }
    expect(await detector.judge(questionOf(null), never)).toBeNull();
  });

  it("refuses questions beyond its queue and answers those within", async () => {
    const detector = keep(await openSmartTurn({ modelPath }));
    const requested = Array.from({ length: SMART_TURN_QUEUE_QUESTIONS + 3 }, () =>
      detector.judge(questionOf(speech), never).then(
        () => "answered",
        (error: unknown) => String(error),
      ),
    );
    const outcomes = await Promise.all(requested);
    expect(outcomes.filter((text) => text === "answered")).toHaveLength(SMART_TURN_QUEUE_QUESTIONS + 1);
    expect(outcomes.filter((text) => text.includes("too many"))).toHaveLength(2);
  });

  it("starts again when its thread crashes, and costs the question that was under way", async () => {
    const log: string[] = [];
    let lives = 0;
    const start: StartSmartTurnThread = (listener) => {
      lives += 1;
      return lives === 1 ? crashing(listener) : smartTurnThread(modelPath)(listener);
    };
    const detector = keep(await openQueuedSmartTurn(start, (message) => log.push(message)));
    await expect(detector.judge(questionOf(speech), never)).rejects.toThrow("was lost");
    const judgement = await detector.judge(questionOf(speech), never);
    expect(judgement?.finished).toBeCloseTo(expectedOf(speech), 4);
    expect([lives, log.length]).toEqual([2, 1]);
  });
});

/** The real thread, which is sent what it cannot read and throws outside of any question. */
const crashing: StartSmartTurnThread = (listener) => {
  const worker = new Worker(new URL("./smart-turn-worker.ts", import.meta.url), {
    workerData: { modelPath },
  });
  worker.on("message", (message: FromWorker) => {
    listener.heard(message);
  });
  worker.on("error", (error: Error) => {
    listener.ended(error.message);
  });
  return {
    send: () => {
      worker.postMessage(null, []);
    },
    end: () => Promise.resolve(),
  };
};

describe("a model file that is", () => {
  const refusals: readonly [string, () => string, string][] = [
    ["missing", () => join(directory, "nowhere.onnx"), "ENOENT"],
    ["empty", () => modelFile("empty.onnx", new Uint8Array(0)), "empty"],
    ["broken", () => modelFile("broken.onnx", standInModel().slice(0, 90)), "cannot start"],
    ["no model", () => modelFile("text.onnx", Buffer.alloc(5_000, "hello ")), "cannot start"],
    [
      "another model",
      () => modelFile("other.onnx", standInModel({ input: "input" })),
      "input input_features; it has input",
    ],
    [
      "of another shape",
      () => modelFile("shape.onnx", standInModel({ shape: [1, 40, 800] })),
      "cannot start",
    ],
    [
      "without a probability",
      () => modelFile("raw.onnx", standInModel({ isRaw: true })),
      "not one probability",
    ],
  ];
  for (const [kind, path, reason] of refusals) {
    it(`${kind} is refused with a reason, and the process lives`, async () => {
      const log: string[] = [];
      const opening = openSmartTurn({ modelPath: path(), log: (message) => log.push(message) });
      await expect(opening).rejects.toThrow(reason);
      expect(log).toHaveLength(1);
    });
  }
});
