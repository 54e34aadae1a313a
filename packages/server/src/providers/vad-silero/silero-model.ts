/**
 * The Silero v6 network for many streams at once: one network, a batch of windows per inference, and the state of each
 * stream stored here (1,280 bytes: two layers of 128 values and the last 64 samples).
 *
 * Interface of the model, from its own repository (snakers4/silero-vad, `utils_vad.py`, OnnxWrapper): `input` float32
 * [N, 576], `state` float32 [2, N, 128], `sr` int64; answers `output` float32 [N, 1] and `stateN` [2, N, 128].
 * Each row is the previous 64 samples followed by the 512 new ones. With the 512 alone it runs without complaint and
 * hears nothing.
 */

import ort from "onnxruntime-node";
import { VAD_SAMPLE_RATE_HZ, VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";

export const SILERO_CONTEXT_SAMPLES = 64;
const INPUT_SAMPLES = SILERO_CONTEXT_SAMPLES + VAD_WINDOW_SAMPLES;
const LAYERS = 2;
const LAYER_VALUES = 128;
const FULL_SCALE = 32_768;

interface StreamState {
  readonly layers: Float32Array;
  readonly context: Float32Array;
}

function createStreamState(): StreamState {
  return {
    layers: new Float32Array(LAYERS * LAYER_VALUES),
    context: new Float32Array(SILERO_CONTEXT_SAMPLES),
  };
}

function floats(tensor: ort.Tensor | undefined, length: number, name: string): Float32Array {
  const data = tensor?.data;
  if (!(data instanceof Float32Array) || data.length !== length) {
    throw new Error(`the model's "${name}" is not ${String(length)} float32 values`);
  }
  return data;
}

export class SileroModel {
  readonly #network: ort.InferenceSession;
  readonly #states = new Map<number, StreamState>();
  readonly #rate = new ort.Tensor("int64", BigInt64Array.of(BigInt(VAD_SAMPLE_RATE_HZ)), []);
  readonly #input: Float32Array;
  readonly #layers: Float32Array;

  private constructor(network: ort.InferenceSession, maxBatch: number) {
    this.#network = network;
    this.#input = new Float32Array(maxBatch * INPUT_SAMPLES);
    this.#layers = new Float32Array(maxBatch * LAYERS * LAYER_VALUES);
  }

  /** Loads the model and scores one silent window, so that a model with another interface is refused here. */
  static async load(modelPath: string, maxBatch: number): Promise<SileroModel> {
    const network = await ort.InferenceSession.create(modelPath, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
    const inputs = [...network.inputNames].sort().join(", ");
    if (inputs !== "input, sr, state") {
      throw new Error(`expected a Silero v5 or v6 model with inputs input, sr, state; it has ${inputs}`);
    }
    const model = new SileroModel(network, maxBatch);
    const probe = -1;
    await model.score(1, Int32Array.of(probe), new Int16Array(VAD_WINDOW_SAMPLES), new Float32Array(1));
    model.forget(probe);
    return model;
  }

  /**
   * Scores `count` windows of `count` different streams; writes into `scores`. On a throw no state has changed.
   * Calls must not overlap.
   */
  async score(
    count: number,
    streamIds: Int32Array,
    windows: Int16Array,
    scores: Float32Array,
  ): Promise<void> {
    const input = this.#input.subarray(0, count * INPUT_SAMPLES);
    const layers = this.#layers.subarray(0, count * LAYERS * LAYER_VALUES);
    const states: StreamState[] = [];
    for (let row = 0; row < count; row++) {
      const state = this.#states.get(streamIds[row]!) ?? createStreamState();
      states.push(state);
      const start = row * INPUT_SAMPLES;
      input.set(state.context, start);
      const from = row * VAD_WINDOW_SAMPLES;
      for (let i = 0; i < VAD_WINDOW_SAMPLES; i++) {
        input[start + SILERO_CONTEXT_SAMPLES + i] = windows[from + i]! / FULL_SCALE;
      }
      for (let layer = 0; layer < LAYERS; layer++) {
        const values = state.layers.subarray(layer * LAYER_VALUES, (layer + 1) * LAYER_VALUES);
        layers.set(values, (layer * count + row) * LAYER_VALUES);
      }
    }
    const answer = await this.#network.run({
      input: new ort.Tensor("float32", input, [count, INPUT_SAMPLES]),
      state: new ort.Tensor("float32", layers, [LAYERS, count, LAYER_VALUES]),
      sr: this.#rate,
    });
    const output = floats(answer["output"], count, "output");
    const next = floats(answer["stateN"], count * LAYERS * LAYER_VALUES, "stateN");
    for (let row = 0; row < count; row++) {
      const state = states[row]!;
      for (let layer = 0; layer < LAYERS; layer++) {
        const at = (layer * count + row) * LAYER_VALUES;
        state.layers.set(next.subarray(at, at + LAYER_VALUES), layer * LAYER_VALUES);
      }
      const end = (row + 1) * INPUT_SAMPLES;
      state.context.set(input.subarray(end - SILERO_CONTEXT_SAMPLES, end));
      this.#states.set(streamIds[row]!, state);
      scores[row] = output[row]!;
    }
  }

  forget(streamId: number): void {
    this.#states.delete(streamId);
  }

  get streamCount(): number {
    return this.#states.size;
  }

  async release(): Promise<void> {
    this.#states.clear();
    await this.#network.release();
  }
}
