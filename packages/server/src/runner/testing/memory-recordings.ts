/** In-memory recordings, for tests. */

import type { Recordings } from "../../ports/recordings.ts";

export interface MemoryRecordings extends Recordings {
  /** What was written so far, each side separately. */
  read(callId: string): {
    readonly left: Int16Array;
    readonly right: Int16Array;
    readonly sampleRateHz: number;
  };
  /** Files that were created and not closed. */
  openFiles(): number;
}

export function openMemoryRecordings(): MemoryRecordings {
  const files = new Map<string, { readonly sampleRateHz: number; readonly blocks: Int16Array[] }>();
  let open = 0;
  const writerOf = (blocks: Int16Array[]) => {
    open += 1;
    return Promise.resolve({
      write: (samples: Int16Array) => void blocks.push(samples.slice()),
      close: () => {
        open -= 1;
        return Promise.resolve();
      },
    });
  };
  return {
    openFiles: () => open,
    create: (callId, sampleRateHz) => {
      const blocks: Int16Array[] = [];
      files.set(callId, { sampleRateHz, blocks });
      return writerOf(blocks);
    },
    resume: (callId, sampleRateHz, startMs) => {
      const file = files.get(callId) ?? { sampleRateHz, blocks: [] };
      files.set(callId, file);
      const written = file.blocks.reduce((sum, { length }) => sum + length, 0);
      const missing = Math.round((startMs * sampleRateHz) / 1000) * 2 - written;
      if (missing > 0) file.blocks.push(new Int16Array(missing));
      return writerOf(file.blocks);
    },
    open: () => Promise.resolve(null),
    openPart: () => Promise.resolve(null),
    link: () => Promise.resolve(null),
    isShared: false,
    remove: (callId) => {
      files.delete(callId);
      return Promise.resolve();
    },
    read: (callId) => {
      const file = files.get(callId);
      if (file === undefined) throw new Error("there is no such recording");
      const pairs = file.blocks.flatMap((block) => [...block]);
      return {
        sampleRateHz: file.sampleRateHz,
        left: Int16Array.from({ length: pairs.length / 2 }, (_, i) => pairs[2 * i] ?? 0),
        right: Int16Array.from({ length: pairs.length / 2 }, (_, i) => pairs[2 * i + 1] ?? 0),
      };
    },
  };
}
