/** Chooses where recordings are stored: in DATA_DIR, or in the bucket that the environment names. */

import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { isFirst } from "../config/workers/workers.ts";
import type { Recordings } from "../ports/recordings.ts";
import { openFileRecordings } from "../providers/recordings/file-recordings.ts";
import { openRecordingUploads, type RecordingUploads } from "../upkeep/recording-uploads.ts";
import type { Db } from "../store/database/db.ts";

export interface RecordingsStore {
  readonly recordings: Recordings;
  /** Null: recordings stay where they are written. */
  readonly uploads: RecordingUploads | null;
  /** The calls that have a recording on this disk. Unset: the uploads look after them. */
  readonly listRecordings?: () => Promise<readonly string[]>;
}

export async function openRecordingsStore(
  { dataDir, recordingsBucket: bucket, worker }: Pick<Config, "dataDir" | "recordingsBucket" | "worker">,
  db: Db,
  nodeId: string,
  logger: Logger,
): Promise<RecordingsStore> {
  const local = await openFileRecordings(join(dataDir, "recordings"));
  // Workers share the folder, so that each of them serves the recordings of all. One of them looks after it.
  const looksAfter = isFirst(worker);
  if (bucket === null) {
    const listRecordings = looksAfter ? () => local.list() : () => Promise.resolve([]);
    return { recordings: local, uploads: null, listRecordings };
  }
  const { openS3Recordings } = await import("../providers/recordings/s3-recordings.ts");
  const recordings = openS3Recordings(local, bucket);
  logger.info(`recordings: in the bucket ${bucket.bucket} of ${bucket.endpoint}`);
  return {
    recordings,
    uploads: looksAfter ? openRecordingUploads({ db, nodeId, recordings, logger, nowMs: Date.now }) : null,
  };
}
