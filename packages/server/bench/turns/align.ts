/** Where the words of a recording are: the offline recogniser aligns a text that is known. */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import createModule, { type Decoder } from "soundswallower";
import type { SpokenWord } from "./clips.ts";

/** Recordings are aligned with room around them, because the model needs silence at both ends. */
const FULL_SCALE = 32_768;

export class Aligner {
  readonly #decoder: Decoder;

  private constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  static async open(): Promise<Aligner> {
    const models = join(dirname(fileURLToPath(import.meta.resolve("soundswallower"))), "model");
    const quiet = { print: () => {}, printErr: () => {} };
    const swallower = await createModule(quiet);
    const decoder = new swallower.Decoder({
      hmm: join(models, "en-us"),
      samprate: 16_000,
      loglevel: "ERROR",
      beam: 1e-60,
      wbeam: 1e-50,
      pbeam: 1e-60,
    });
    await decoder.initialize();
    return new Aligner(decoder);
  }

  /** The words in order with their times. Throws when the text does not fit the recording. */
  align(samples: Int16Array, text: string): SpokenWord[] {
    const wanted = text.toLowerCase().split(" ");
    this.#decoder.set_align_text(wanted.join(" "));
    this.#decoder.start();
    this.#decoder.process_audio(
      Float32Array.from(samples, (sample) => sample / FULL_SCALE),
      false,
      true,
    );
    this.#decoder.stop();
    const found = (this.#decoder.get_alignment({}).w ?? []).filter(({ t }) => /^[a-z']/i.test(t));
    if (found.length !== wanted.length)
      throw new Error(`"${text}": ${String(found.length)} of ${String(wanted.length)} words were aligned`);
    return found.map(({ b, d }, at) => ({
      text: wanted[at] ?? "",
      fromMs: Math.round(b * 1_000),
      toMs: Math.round((b + d) * 1_000),
    }));
  }

  close(): void {
    this.#decoder.delete();
  }
}
