/** Damaged documents of every kind, read one after the other in the process of the reader. */

import { READ_FAILURES, UnreadableDocument } from "../../src/ports/corpora/document-reader.ts";
import { openDocumentReader } from "../../src/providers/readers/document-reader.ts";
import { damagedVariant } from "../../src/providers/readers/testing/damage.ts";
import { SAMPLES } from "../../src/providers/readers/testing/samples.ts";

export interface ReadersFuzz {
  /** Variants of each kind. */
  readonly inputs: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** A damaged file of some kilobytes takes milliseconds; one that takes this long would keep others waiting. */
const SLOW_MS = 30_000;

/** Returns the number of faults: documents that ended the process, took too long, or failed without a reason. */
export async function runReadersFuzz({ inputs, seed, log }: ReadersFuzz): Promise<number> {
  const reader = openDocumentReader({ timeoutMs: SLOW_MS });
  let faults = 0;
  try {
    for (const { kind, mimeType, bytes } of SAMPLES) {
      const outcomes = new Map<string, number>();
      let slowestMs = 0;
      for (let input = 0; input < inputs; input += 1) {
        const document = {
          bytes: damagedVariant(bytes, seed * 1_000_003 + input),
          mimeType,
          charset: null,
          url: null,
        };
        const beganAt = performance.now();
        const outcome = await outcomeOf(reader.read(document, new AbortController().signal));
        slowestMs = Math.max(slowestMs, performance.now() - beganAt);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (!isFault(outcome)) continue;
        faults += 1;
        log(`readers: ${kind}, seed ${String(seed)}, input ${String(input)}: ${outcome}`);
      }
      const counts = [...outcomes].map(([outcome, count]) => `${outcome} ${String(count)}`).join(", ");
      log(
        `readers: ${kind}: ${String(inputs)} variants: ${counts}; slowest ${String(Math.round(slowestMs))} ms`,
      );
    }
  } finally {
    await reader.close();
  }
  return faults;
}

async function outcomeOf(reading: Promise<unknown>): Promise<string> {
  try {
    await reading;
    return "read";
  } catch (error) {
    return error instanceof UnreadableDocument ? error.code : `no reason: ${String(error)}`;
  }
}

function isFault(outcome: string): boolean {
  if (outcome === "read") return false;
  const ends: readonly string[] = ["reader_ended", "too_slow"];
  return ends.includes(outcome) || !(READ_FAILURES as readonly string[]).includes(outcome);
}
