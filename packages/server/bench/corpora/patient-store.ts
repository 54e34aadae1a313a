/** A database of its own whose statements may take minutes, such as the making of an index. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiKeyCache } from "../../src/store/database/api-key-cache.ts";
import type { Db } from "../../src/store/database/db.ts";
import { migrate, readMigrations } from "../../src/store/database/migrate.ts";
import { openEmbedded, openServer } from "../../src/store/opening/open-database.ts";
import { createSealer } from "../../src/store/secrets/secrets.ts";
import { createDatabase } from "../jobs-store.ts";

const LIMITS = { connections: 8, answerLimitMs: 600_000 };

export interface PatientStore {
  readonly db: Db;
  close(): Promise<void>;
}

export async function openPatientStore(kind: "embedded" | "postgresql"): Promise<PatientStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const database = kind === "postgresql" ? await createDatabase() : null;
  const secretsKey = new Uint8Array(randomBytes(32));
  const log = { info: () => undefined, warn: console.error, error: console.error };
  const options = { dataDir, databaseUrl: database?.url ?? null, secretsKey, log };
  const opened = await (database === null ? openEmbedded(options) : openServer(options));
  const query = opened.connect(LIMITS);
  await migrate(query, await readMigrations());
  return {
    db: { query, sealer: createSealer(secretsKey), apiKeyCache: new ApiKeyCache() },
    close: async () => {
      await query.destroy();
      await opened.query.destroy();
      await opened.release();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
