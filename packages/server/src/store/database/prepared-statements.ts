/**
 * Prepared statements: each connection to PostgreSQL parses and plans them once. For the long statements of every call,
 * planning took three times as long as execution. Only for statements that find their rows by keys, because a cached
 * plan may be some minutes older than the table statistics. The connections of the embedded database share one session,
 * and so the names of statements: its thread prepares them for all (`embedded/prepared-groups.ts`).
 */

import { createHash } from "node:crypto";
import { sql, type PostgresPoolClient } from "kysely";
import { PREPARED_MARK as MARK } from "./prepared-mark.ts";

/** Marks a statement as prepared. Stands at its beginning; the text of the statement must not vary. */
export const preparedStatement = sql.raw(`${MARK} `);

/** Limit of prepared texts. The service has about twenty; further ones are planned for each execution. */
const MAX_PREPARED = 100;

const names = new Map<string, string>();

function nameOf(text: string): string | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_PREPARED) return null;
  const name = `parley_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/** What `pg` takes for a prepared statement. */
export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

type RunNamed = (query: NamedQuery) => Promise<unknown>;

/** The same connection; it executes marked statements as prepared ones. */
export function withPreparedStatements<Client extends PostgresPoolClient>(
  client: Client,
  run: RunNamed,
): Client {
  const query = (text: unknown, values: readonly unknown[] = []): unknown => {
    const name = typeof text === "string" && text.startsWith(MARK) ? nameOf(text) : null;
    if (typeof text === "string" && name !== null) return run({ name, text, values: [...values] });
    return Reflect.apply(client.query, client, [text, values]);
  };
  return Object.create(client, { query: { value: query } }) as Client;
}

/**
 * The same for a connection to the embedded database: `pg` sends texts without parameters as simple queries, which the
 * thread cannot prepare, unless it is told otherwise.
 */
export function withExtendedQueries<Client extends PostgresPoolClient>(client: Client): Client {
  const query = (text: unknown, values: readonly unknown[] = []): unknown => {
    const isMarked = typeof text === "string" && text.startsWith(MARK) && values.length === 0;
    return Reflect.apply(client.query, client, [isMarked ? { text, queryMode: "extended" } : text, values]);
  };
  return Object.create(client, { query: { value: query } }) as Client;
}
