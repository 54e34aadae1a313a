/** A journal in memory, for tests. */

import type { CallRecord, RecordJournal } from "../records/call-records.ts";

export interface MemoryJournal extends RecordJournal {
  readonly kept: { callId: string; record: CallRecord }[];
  /** True: the disk takes nothing. */
  isBroken: boolean;
}

/** @param keeps whether calls stay in the journal; otherwise it counts as written at once */
export function openMemoryJournal(keeps = true): MemoryJournal {
  const journal: MemoryJournal = {
    kept: [],
    isBroken: false,
    append(call, records) {
      if (journal.isBroken) return Promise.reject(new Error("no space left on device"));
      journal.kept.push(...records.map((record) => ({ callId: call.callId, record })));
      return Promise.resolve();
    },
    has: (callId) => keeps && journal.kept.some((one) => one.callId === callId),
  };
  return journal;
}
