/** Opens what stores the records of live calls, and the journal of this process, over the store. */

import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { openRecordJournal, type OpenedJournal } from "../lifecycle/journal/record-journal.ts";
import { createCallStorage, type CallMetrics, type CallStorage } from "../lifecycle/storage.ts";
import { callEnder, lateFinisher, type EndCall } from "../lifecycle/end/ending.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { writeRecord } from "../runner/records/call-records.ts";
import { lossEvent } from "../runner/records/record-queue.ts";
import { stateOfJournalCall } from "../store/journal/journal-calls.ts";
import { openJournalFiles } from "../store/journal/journal-files.ts";
import type { Store } from "../store/opening/open-store.ts";

export interface JournalParts {
  readonly config: Pick<Config, "nodeDir">;
  readonly store: Pick<Store, "recordsDb" | "ping">;
  readonly storage: CallStorage;
  readonly nodeId: string;
  readonly logger: Logger;
}

export async function openJournal(parts: JournalParts): Promise<OpenedJournal> {
  const { config, store, storage, nodeId, logger } = parts;
  const { recordsDb: db } = store;
  return openRecordJournal({
    files: await openJournalFiles(config.nodeDir, db.sealer),
    accountOf: (callId) => storage.accountOf(callId),
    stateOf: (callId) => stateOfJournalCall(db, nodeId, callId),
    write: async (accountId, callId, record) => {
      storage.remember({ callId, accountId });
      await writeRecord(storage.records, callId, record);
    },
    lossEvent: (stageId, lost) => lossEvent(stageId, lost, null),
    ping: store.ping,
    logger,
  });
}

export interface CallRecording {
  readonly storage: CallStorage;
  readonly journal: OpenedJournal;
  /** On the connections for records of live calls. */
  readonly endLiveCall: EndCall;
}

export interface CallRecordingParts {
  readonly config: Pick<Config, "metering" | "nodeDir">;
  readonly store: Pick<Store, "recordsDb" | "ping">;
  readonly jobs: Jobs;
  readonly metrics: CallMetrics;
  readonly node: { readonly boot: NodeBoot };
  readonly deliver: () => void;
  /** Another process continues the call. */
  readonly taken: (callId: string) => void;
  readonly logger: Logger;
}

/** What stores the records of live calls, and its journal, which is closed with the stack. */
export async function openCallRecords(
  opened: AsyncDisposableStack,
  { config, store, jobs, metrics, node, deliver, taken, logger }: CallRecordingParts,
): Promise<CallRecording> {
  const { recordsDb } = store;
  const endLiveCall = callEnder({ db: recordsDb, jobs, metering: config.metering, deliver });
  const finishLate = lateFinisher({ db: recordsDb, jobs });
  const outcomes = { endCall: endLiveCall, finishLate, deliver, boot: node.boot, taken };
  const storage = createCallStorage(recordsDb, metrics, outcomes);
  const journal = await openJournal({ config, store, storage, nodeId: node.boot.nodeId, logger });
  opened.defer(() => journal.close());
  return { storage, journal, endLiveCall };
}
