/**
 * Statements that each connection to PostgreSQL parses and plans once. For the long ones of every call, planning took
 * three times as long as executing. Only for statements that find their rows by keys, whatever the tables hold:
 * a kept plan may be some minutes older than they are. On the embedded database nothing is kept: its connections share
 * one session, and with it the names of statements.
 */

import { createHash } from "node:crypto";
import { sql, type PostgresPoolClient } from "kysely";

const MARK = "/* kept */";

/** At the beginning of a statement whose text is always the same. */
export const keptPlan = sql.raw(`${MARK} `);

/** Texts with a name. The service has some twenty; another one is planned each time. */
const MAX_KEPT = 100;

const names = new Map<string, string>();

function nameOf(text: string): string | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_KEPT) return null;
  const name = `kept_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/** What `pg` takes instead of a text. */
export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

type AskNamed = (query: NamedQuery) => Promise<unknown>;

/** The same connection, with plans for marked statements. */
export function keepingPlans<Client extends PostgresPoolClient>(client: Client, ask: AskNamed): Client {
  const query = (text: unknown, values: readonly unknown[] = []): unknown => {
    const name = typeof text === "string" && text.startsWith(MARK) ? nameOf(text) : null;
    if (typeof text === "string" && name !== null) return ask({ name, text, values: [...values] });
    return Reflect.apply(client.query, client, [text, values]);
  };
  return Object.create(client, { query: { value: query } }) as Client;
}
