/** Opens the journal of records in DATA_DIR over the store. */

import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { openRecordJournal, type OpenedJournal } from "../lifecycle/journal/record-journal.ts";
import type { CallStorage } from "../lifecycle/storage.ts";
import { writeRecord } from "../runner/records/call-records.ts";
import { lossEvent } from "../runner/records/record-queue.ts";
import { stateOfJournalCall } from "../store/journal/journal-calls.ts";
import { openJournalFiles } from "../store/journal/journal-files.ts";
import type { Store } from "../store/opening/open-store.ts";

export interface JournalParts {
  readonly config: Pick<Config, "dataDir">;
  readonly store: Pick<Store, "recordsDb" | "ping">;
  readonly storage: CallStorage;
  readonly nodeId: string;
  readonly logger: Logger;
}

export async function openJournal(parts: JournalParts): Promise<OpenedJournal> {
  const { config, store, storage, nodeId, logger } = parts;
  const { recordsDb: db } = store;
  return openRecordJournal({
    files: await openJournalFiles(config.dataDir, db.sealer),
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
