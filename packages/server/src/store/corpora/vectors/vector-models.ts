/**
 * Models of vectors, and the table that each has. The table is created when the first vector of a model is known,
 * because its column has the type that fits the number of dimensions and the database.
 */

import { sql, type RawBuilder } from "kysely";
import { inTransaction, type Db } from "../../database/db.ts";
import { messageOf } from "../../../pacing/error-text.ts";

/** pgvector: an index finds near vectors. scan: the service compares all vectors of a corpus. */
export type VectorSupport =
  | { readonly kind: "pgvector"; readonly version: string }
  /** `reason` is a sentence for the operator. */
  | { readonly kind: "scan"; readonly reason: string };

export type VectorStorage = "vector" | "halfvec" | "bytes";

/** What vectors must share to be compared. */
export interface VectorIdentity {
  readonly model: string;
  readonly basis: string;
}

export interface VectorModel extends VectorIdentity {
  readonly id: number;
  readonly dimensions: number;
  readonly storage: VectorStorage;
}

/** Above these numbers of dimensions pgvector's HNSW indexes cannot be made of its two types. */
const MAX_VECTOR_DIMENSIONS = 2_000;
const MAX_HALFVEC_DIMENSIONS = 4_000;

/**
 * The graph of the index: neighbours of each vector, and candidates that an insert compares. An insert writes to all of its
 * neighbours, and compares those of each: with 16 neighbours, the default of pgvector, it takes more than twice the time.
 * The embedded database makes every other statement wait for it. Searches make up for it with more candidates.
 */
const HNSW = { m: 10, efConstruction: 40 };

/** Models that are kept. A server that answers with other dimensions each time would make a table for each of them. */
const MAX_MODELS = 8;

/** A number that nothing else in the database uses: "pvec" in ASCII. */
const ADVISORY_LOCK = 0x70766563;

/** Iterative scans, without which a search for one corpus among many finds too few, came with this version. */
const OLDEST_PGVECTOR = [0, 8] as const;

/** Loads pgvector into the database where the server has it. */
export async function openVectorSupport(db: Db): Promise<VectorSupport> {
  const read = await sql<{ offered: string | null; installed: string | null }>`
    select (select default_version from pg_available_extensions where name = 'vector') as offered,
      (select extversion from pg_extension where extname = 'vector') as installed`.execute(db.query);
  const { offered = null, installed = null } = read.rows[0] ?? {};
  const version = installed ?? offered;
  if (version === null) return { kind: "scan", reason: "this PostgreSQL has no pgvector" };
  if (isOlder(version)) return { kind: "scan", reason: `pgvector ${version} is older than 0.8` };
  if (installed !== null) return { kind: "pgvector", version };
  try {
    await sql`create extension if not exists vector`.execute(db.query);
    return { kind: "pgvector", version };
  } catch (error) {
    const reason = `pgvector ${version} could not be created in the database (${messageOf(error)})`;
    return { kind: "scan", reason };
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST_PGVECTOR[0] || (major === OLDEST_PGVECTOR[0] && minor < OLDEST_PGVECTOR[1]);
}

export function storageFor({ kind }: VectorSupport, dimensions: number): VectorStorage {
  if (kind === "scan" || dimensions > MAX_HALFVEC_DIMENSIONS) return "bytes";
  return dimensions > MAX_VECTOR_DIMENSIONS ? "halfvec" : "vector";
}

const columns = sql`id, model, basis, dimensions, storage`;

/** Newest first. */
export async function listVectorModels(db: Db): Promise<readonly VectorModel[]> {
  const read = await sql<VectorModel>`
    select ${columns} from corpus_vector_models order by id desc`.execute(db.query);
  return read.rows;
}

/** Creates the model's table and its index, where there are none yet. The oldest of too many models are deleted. */
export async function ensureVectorModel(
  db: Db,
  { model, basis }: VectorIdentity,
  dimensions: number,
  storage: VectorStorage,
): Promise<VectorModel> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK}::bigint)`.execute(tx.query);
    const find = () =>
      sql<VectorModel>`select ${columns} from corpus_vector_models where model = ${model} and basis = ${basis}
        and dimensions = ${dimensions} and storage = ${storage}`.execute(tx.query);
    const [known] = (await find()).rows;
    if (known !== undefined) {
      // The newest one of a name is its present one. Where a server has gone back to an earlier number of dimensions, the
      // table is made anew, and becomes the newest.
      const newer = await sql`select 1 from corpus_vector_models where model = ${model} and basis = ${basis}
        and id > ${known.id}`.execute(tx.query);
      if (newer.rows.length === 0) return known;
      await dropVectorModel(tx, known);
    }
    await sql`insert into corpus_vector_models (model, basis, dimensions, storage, created_at)
      values (${model}, ${basis}, ${dimensions}, ${storage}, statement_timestamp())`.execute(tx.query);
    const [made] = (await find()).rows;
    if (made === undefined) throw new Error("The inserted model of vectors was not found.");
    await createTable(tx, made);
    for (const old of (await listVectorModels(tx)).slice(MAX_MODELS)) await dropVectorModel(tx, old);
    return made;
  });
}

async function createTable(tx: Db, model: VectorModel): Promise<void> {
  const table = vectorTable(model);
  const { storage, dimensions } = model;
  const type = sql.raw(storage === "bytes" ? "bytea" : `${storage}(${dimensions})`);
  await sql`create table ${table} (
    chunk_id bigint primary key references corpus_chunks (chunk_id) on delete cascade,
    corpus_id uuid not null,
    embedding ${type} not null
  )`.execute(tx.query);
  // Vectors do not become smaller by compression.
  await sql`alter table ${table} alter column embedding set storage external`.execute(tx.query);
  const name = sql.id(`corpus_vectors_${model.id}_of_corpus`);
  await sql`create index ${name} on ${table} (corpus_id, chunk_id)`.execute(tx.query);
  if (storage !== "bytes") await createNearIndex(tx, model);
}

/** For benchmarks, which fill the table before. */
export async function createNearIndex(tx: Db, model: VectorModel): Promise<void> {
  const name = sql.id(`corpus_vectors_${model.id}_near`);
  // All vectors have the length 1, so the inner product orders them as the cosine does, and takes less time.
  await sql`create index ${name} on ${vectorTable(model)} using hnsw (embedding ${sql.raw(`${model.storage}_ip_ops`)})
    with (m = ${sql.lit(HNSW.m)}, ef_construction = ${sql.lit(HNSW.efConstruction)})`.execute(tx.query);
}

/** Deletes a model with all of its vectors. */
export async function dropVectorModel(db: Db, model: VectorModel): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK}::bigint)`.execute(tx.query);
    await sql`drop table if exists ${vectorTable(model)}`.execute(tx.query);
    await sql`delete from corpus_vector_models where id = ${model.id}`.execute(tx.query);
  });
}

export function vectorTable({ id }: Pick<VectorModel, "id">): RawBuilder<unknown> {
  return sql.id(`corpus_vectors_${id}`);
}
