/**
 * Key rotation: seals everything again under another SECRETS_KEY. It can be interrupted at any point and repeated: a
 * sealed text contains the id of its key, and a mark in the database prevents services from starting meanwhile.
 */

import { sql, type RawBuilder } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";
import type { StoreSettingsTable } from "../database/tables/deployment.ts";
import { contextOf, keyColumnsOf, SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";
import { CANARY_NAME, CANARY_TEXT, ROTATION_NAME } from "./secrets-key.ts";
import { SealError } from "./secrets.ts";
import type { Sealer } from "../database/sealer.ts";
import { StoreStartError } from "../database/store-errors.ts";

/** Rows of one transaction, at most: most are small, and each is a round trip of its own. */
const ROWS_PER_PORTION = 100;

/**
 * Sealed bytes of one transaction, unless a single row has more. Each is in memory four times (as read, opened, sealed
 * again, sent). Plans and event logs have up to some megabytes each.
 */
export const BYTES_PER_PORTION = 16 * 1024 * 1024;

/** The id of the new key of an unfinished change; null: none is under way. */
export async function readRotation(db: Pick<Db, "query">): Promise<string | null> {
  const row = await db.query
    .selectFrom("store_settings")
    .select("value")
    .where("name", "=", ROTATION_NAME)
    .executeTakeFirst();
  return row?.value ?? null;
}

/**
 * Makes the checks of `rotateSecrets` without writing.
 * @throws StoreStartError as `rotateSecrets` does.
 */
export async function checkRotation(db: Db, to: Sealer): Promise<void> {
  await sealedColumnsOf(db);
  await inTransaction(db, async (tx) => refuseOtherKeys(tx, to));
}

/**
 * Seals under `to` everything that is sealed under the key of `db`. The mark stays until `endRotation`, which is called
 * when the new key is in place.
 * @param sealed called after each portion with the total number of resealed texts
 * @returns that number.
 * @throws StoreStartError when the key of `db` is not that of the database, another change is unfinished, or there is a
 * sealed column that `SEALED_COLUMNS` does not have; nothing is changed then.
 */
export async function rotateSecrets(db: Db, to: Sealer, sealed: (count: number) => void): Promise<number> {
  const columns = await sealedColumnsOf(db);
  await begin(db, to);
  let count = 0;
  for (const column of columns) {
    for await (const portion of resealed(db, to, column)) {
      count += portion;
      sealed(count);
    }
  }
  await sql`update store_settings set value = ${to.seal(CANARY_TEXT, CANARY_NAME)}
    where name = ${CANARY_NAME}`.execute(db.query);
  return count;
}

export async function endRotation(db: Db): Promise<void> {
  await db.query.deleteFrom("store_settings").where("name", "=", ROTATION_NAME).execute();
}

/** @throws StoreStartError for an unknown column. */
export async function sealedColumnsOf(db: Db): Promise<readonly SealedColumn[]> {
  const found = await sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema() and starts_with(column_name, 'sealed_')
    order by table_name, column_name`.execute(db.query);
  return found.rows.map(({ table, column }) => {
    const known = SEALED_COLUMNS.find((one) => one.table === table && one.column === column);
    if (known !== undefined) return known;
    throw new StoreStartError(
      `SECRETS_KEY cannot be changed by this version: it does not know how ${table}.${column} is sealed.`,
    );
  });
}

async function begin(db: Db, to: Sealer): Promise<void> {
  await inTransaction(db, async (tx) => {
    await refuseOtherKeys(tx, to);
    await sql`insert into store_settings (name, value) values (${ROTATION_NAME}, ${to.keyId})
      on conflict do nothing`.execute(tx.query);
  });
}

/** Locks the settings until the transaction ends. */
async function refuseOtherKeys(tx: Db, to: Sealer): Promise<void> {
  const settings = await sql<StoreSettingsTable>`
    select name, value from store_settings for update`.execute(tx.query);
  const valueOf = (name: string): string | undefined => settings.rows.find((row) => row.name === name)?.value;
  const goal = valueOf(ROTATION_NAME);
  if (goal !== undefined && goal !== to.keyId) {
    throw new StoreStartError(
      "A change of SECRETS_KEY to another key than this one was interrupted: run the command with that key again.",
    );
  }
  const canary = valueOf(CANARY_NAME);
  if (canary === undefined || ![tx.sealer.keyId, to.keyId].includes(keyIdIn(canary))) {
    throw new StoreStartError("SECRETS_KEY is not the key that this database was written with.");
  }
}

/** `v1.<key id>.<rest>` */
function keyIdIn(sealed: string): string {
  return sealed.split(".")[1] ?? "";
}

type Row = Readonly<Record<string, unknown>> & { readonly sealed: string | null };

/** Yields the number of resealed texts of each portion. Rows are read in the order of their keys. */
async function* resealed(db: Db, to: Sealer, place: SealedColumn): AsyncGenerator<number> {
  const keys = keyColumnsOf(place);
  const names = sql.join(keys.map((name) => sql.ref(name)));
  const table = sql.table(place.table);
  const column = sql.ref(place.column);
  const valuesOf = (row: Row): RawBuilder<unknown> => sql.join(keys.map((name) => sql`${row[name]}`));
  let last: Row | undefined;
  for (;;) {
    const after = last === undefined ? sql`true` : sql`(${names}) > (${valuesOf(last)})`;
    // `octet_length` is known without reading the text itself.
    const read = await sql<Row>`
      select ${names}, sealed from (
        select ${names}, sealed, row_number() over rows_before as number,
          sum(coalesce(octet_length(sealed), 0)) over rows_before as bytes
        from (
          select ${names}, ${column} as sealed from ${table} where ${after}
          order by ${names} limit ${ROWS_PER_PORTION}
        ) as first_rows
        window rows_before as (order by ${names} rows unbounded preceding)
      ) as counted
      where number = 1 or bytes <= ${BYTES_PER_PORTION}
      order by ${names}`.execute(db.query);
    if (read.rows.length === 0) return;
    last = read.rows.at(-1);
    const old = read.rows.filter(({ sealed }) => sealed !== null && keyIdIn(sealed) !== to.keyId);
    await inTransaction(db, async (tx) => {
      for (const row of old) {
        const context = contextOf(place, row);
        const fresh = to.seal(opened(tx.sealer, row.sealed ?? "", context, place), context);
        await sql`update ${table} set ${column} = ${fresh}
          where (${names}) = (${valuesOf(row)}) and ${column} = ${row.sealed}`.execute(tx.query);
      }
    });
    yield old.length;
  }
}

function opened(sealer: Sealer, sealed: string, context: string, { table, column }: SealedColumn): string {
  try {
    return sealer.open(sealed, context);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new StoreStartError(
      `A text in ${table}.${column} cannot be opened with SECRETS_KEY: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}
