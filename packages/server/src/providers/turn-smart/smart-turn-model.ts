/**
 * The Smart Turn v3 network. Interface, from its publisher's own example: `input_features` float32 [1, 80, 800]; the
 * first output holds one number, a probability already (a sigmoid is part of the network): finished above 0.5.
 */

import { statSync } from "node:fs";
import ort from "onnxruntime-node";
import { FEATURE_FRAMES, smartTurnFeatures } from "./features.ts";
import { MEL_BANDS } from "./mel-filters.ts";

const INPUT = "input_features";

/** Limit of the file: the quantised network has 8 MB and the full one 32 MB. A larger file is not read. */
const MODEL_MAX_BYTES = 200_000_000;

export class SmartTurnModel {
  readonly #network: ort.InferenceSession;
  readonly #output: string;

  private constructor(network: ort.InferenceSession, output: string) {
    this.#network = network;
    this.#output = output;
  }

  /** Loads the network and runs it on silence, so that a file with another interface is refused here. */
  static async load(modelPath: string): Promise<SmartTurnModel> {
    const { size } = statSync(modelPath);
    if (size === 0) throw new Error("the file is empty");
    if (size > MODEL_MAX_BYTES) throw new Error(`the file is too large (${String(size)} bytes)`);
    // One thread: two are only a third faster and would take the core from the calls.
    const network = await ort.InferenceSession.create(modelPath, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
    const inputs = network.inputNames.join(", ");
    const output = network.outputNames[0];
    if (inputs !== INPUT || output === undefined) {
      await network.release();
      throw new Error(`expected a Smart Turn v3 model with the input ${INPUT}; it has ${inputs}`);
    }
    const model = new SmartTurnModel(network, output);
    try {
      await model.judge(new Int16Array(0));
    } catch (error) {
      await network.release();
      throw error;
    }
    return model;
  }

  /** Probability that the user has finished, 0 to 1. Calls must not overlap. */
  async judge(samples: Int16Array): Promise<number> {
    const features = new ort.Tensor("float32", smartTurnFeatures(samples), [1, MEL_BANDS, FEATURE_FRAMES]);
    const answer = await this.#network.run({ [INPUT]: features });
    const values = answer[this.#output]?.data;
    const finished = values instanceof Float32Array && values.length === 1 ? values[0] : undefined;
    if (finished === undefined || !(finished >= 0 && finished <= 1)) {
      throw new Error(`the model's "${this.#output}" is not one probability`);
    }
    return finished;
  }

  release(): Promise<void> {
    return this.#network.release();
  }
}
