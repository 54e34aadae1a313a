/** A recogniser of given words in any order, so that the effect of loss on recorded speech can be counted in words. */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import createModule from "soundswallower";

const SAMPLE_RATE_HZ = 16_000;
/** Same as the offline recogniser's, with a costlier word end: a free loop otherwise hears short words everywhere. */
const SETTINGS = {
  beam: 1e-60,
  pbeam: 1e-60,
  wbeam: 1e-40,
  lw: 8,
  wip: 0.05,
  silprob: 0.1,
  compallsen: true,
};

/** @returns a function that turns 16 kHz audio into words, separated by spaces. Blocking. */
export async function openWordLoop(texts: readonly string[]): Promise<(samples: Int16Array) => string> {
  const models = join(dirname(fileURLToPath(import.meta.resolve("soundswallower"))), "model");
  const quiet = (): undefined => undefined;
  const swallower = await createModule({ print: quiet, printErr: quiet });
  const decoder = new swallower.Decoder({
    hmm: join(models, "en-us"),
    samprate: SAMPLE_RATE_HZ,
    loglevel: "ERROR",
    ...SETTINGS,
  });
  await decoder.initialize();
  const words = [...new Set(texts.flatMap((text) => text.split(" ")))];
  const unknown = words.filter((word) => decoder.lookup_word(word) === null);
  if (unknown.length > 0) throw new Error(`the dictionary has no ${unknown.join(", ")}`);
  decoder.set_grammar(`#JSGF V1.0;\ngrammar loop;\npublic <speech> = (${words.join(" | ")})+;\n`);
  return (samples) => {
    decoder.start();
    decoder.process_audio(
      Float32Array.from(samples, (sample) => sample / 32_768),
      false,
      true,
    );
    decoder.stop();
    return decoder.get_text();
  };
}

/** Word edit distance: insertions, deletions and replacements that turn one text into the other. */
export function wordErrors(said: string, heard: string): number {
  const [a, b] = [said, heard].map((text) => text.split(" ").filter((word) => word !== ""));
  if (a === undefined || b === undefined) return 0;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      const replaced = (row[j] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
