/** Webhooks: addresses of users that are notified of events of calls. */

import { randomUUID } from "node:crypto";
import type { WebhookEvent, WebhookStatus } from "@parley/schema";
import { sql, type RawBuilder, type UpdateObject } from "kysely";
import { requireAgent } from "../agents/agent-references.ts";
import { creationTime } from "../database/creation-time.ts";
import type { Database, Row } from "../database/database.ts";
import type { WebhookFailure } from "../database/tables/webhooks.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { TooManyWebhooksError } from "../database/store-errors.ts";
import { deletePendingDeliveries } from "./webhook-deliveries.ts";
import { makeWebhookSecret, openSecrets, sealSecrets } from "./webhook-secrets.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface WebhookRow {
  readonly webhookId: string;
  readonly createdAt: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Null: calls of every agent, and those without one. */
  readonly agentId: string | null;
  /** At least one. */
  readonly secrets: readonly string[];
  readonly status: WebhookStatus;
  readonly lastStatusChangeAt: string | null;
  /** Newest first. */
  readonly recentFailures: readonly WebhookFailure[];
}

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly agentId: string | null;
  /** Empty: one is generated. */
  readonly secrets: readonly string[];
}

/** An absent member stays as it is. */
export type WebhookChange = { readonly [K in keyof NewWebhook]?: NewWebhook[K] | undefined } & {
  /** Clears failed attempts and sets the status to normal. */
  readonly resetHealth?: boolean;
};

/** Per account: each event of a call inserts a row for each of them. */
export const MAX_WEBHOOKS = 100;

/**
 * @throws UnknownAgentError when the account has no such agent.
 * @throws TooManyWebhooksError when it has `MAX_WEBHOOKS`.
 */
export async function createWebhook(db: Db, accountId: string, webhook: NewWebhook): Promise<WebhookRow> {
  const id = randomUUID();
  return inTransaction(db, async (tx) => {
    // Creations of one account wait for each other, so that the count is exact.
    await sql`select id from accounts where id = ${accountId} for no key update`.execute(tx.query);
    const present = await sql<{ count: number }>`
      select count(*) as count from webhooks where account_id = ${accountId}`.execute(tx.query);
    if ((present.rows[0]?.count ?? 0) >= MAX_WEBHOOKS) throw new TooManyWebhooksError();
    if (webhook.agentId !== null) await requireAgent(tx, accountId, webhook.agentId);
    const inserted = await tx.query
      .insertInto("webhooks")
      .values({
        id,
        account_id: accountId,
        agent_id: webhook.agentId,
        url: toStorableText(webhook.url),
        events: webhook.events,
        sealed_secrets: seal(tx, id, webhook.secrets),
        created_at: creationTime(),
      })
      .returning(webhookColumns)
      .executeTakeFirstOrThrow();
    return toWebhookRow(tx, inserted);
  });
}

export async function getWebhook(db: Db, accountId: string, webhookId: string): Promise<WebhookRow | null> {
  const read = await db.query
    .selectFrom("webhooks")
    .select(webhookColumns)
    .where("id", "=", webhookId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return read === undefined ? null : toWebhookRow(db, read);
}

/** `agentId`: only webhooks limited to calls of this agent. Newest first. */
export async function listWebhooks(
  db: Db,
  accountId: string,
  filter: { readonly agentId?: string | undefined },
  page: PageQuery,
): Promise<PageRows<WebhookRow>> {
  const read = await readPage<WebhookColumns>(
    db,
    {
      columns: sql.join(webhookColumns.map((name) => sql.ref(name))),
      from: sql`webhooks`,
      where: [
        sql`account_id = ${accountId}`,
        ...(filter.agentId === undefined ? [] : [sql`agent_id = ${filter.agentId}`]),
      ],
      ...newestFirst,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toWebhookRow(db, columns)) };
}

/**
 * Null: the account has no such webhook.
 * @throws UnknownAgentError when the account has no such agent.
 */
export async function updateWebhook(
  db: Db,
  accountId: string,
  webhookId: string,
  change: WebhookChange,
): Promise<WebhookRow | null> {
  return inTransaction(db, async (tx) => {
    const present = await getWebhook(tx, accountId, webhookId);
    if (present === null) return null;
    // The agent is locked before the webhook, in the order in which an agent's deletion locks.
    if (typeof change.agentId === "string") await requireAgent(tx, accountId, change.agentId);
    const columns = changedColumns(tx, webhookId, change);
    if (Object.keys(columns).length === 0) return present;
    const updated = await tx.query
      .updateTable("webhooks")
      .set(columns)
      .where("id", "=", webhookId)
      .where("account_id", "=", accountId)
      .returning(webhookColumns)
      .executeTakeFirst();
    return updated === undefined ? null : toWebhookRow(tx, updated);
  });
}

function changedColumns(
  db: Db,
  webhookId: string,
  change: WebhookChange,
): UpdateObject<Database, "webhooks"> {
  const { url, events, agentId, secrets, resetHealth = false } = change;
  const changedAt = sql<Date | null>`case when status = 'normal' then last_status_change_at else ${new Date()} end`;
  return {
    ...(url === undefined ? {} : { url: toStorableText(url) }),
    ...(events === undefined ? {} : { events }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(secrets === undefined ? {} : { sealed_secrets: seal(db, webhookId, secrets) }),
    ...(resetHealth
      ? { status: "normal" as const, failures_in_row: 0, last_status_change_at: changedAt }
      : {}),
  };
}

/**
 * Pending deliveries are deleted with it. Its log is no longer readable; a sweep deletes it. False: the account has no
 * such webhook.
 */
export async function deleteWebhook(db: Db, accountId: string, webhookId: string): Promise<boolean> {
  return (await deleteWebhooks(db, sql`id = ${webhookId} and account_id = ${accountId}`)) > 0;
}

/** Deletes the webhooks that are limited to calls of an agent. */
export async function deleteWebhooksOfAgent(db: Db, accountId: string, agentId: string): Promise<void> {
  await deleteWebhooks(db, sql`agent_id = ${agentId} and account_id = ${accountId}`);
}

async function deleteWebhooks(db: Db, which: RawBuilder<unknown>): Promise<number> {
  return inTransaction(db, async (tx) => {
    // Waits for transactions that are inserting deliveries, so that the next statement sees them.
    const held = await sql<Pick<Row<"webhooks">, "id">>`
      select id from webhooks where ${which} order by id for update`.execute(tx.query);
    const ids = held.rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await deletePendingDeliveries(tx, ids);
    await sql`
      with deleted as (delete from webhooks where id = any(${ids}::uuid[]) returning id)
      insert into webhooks_to_erase (webhook_id) select id from deleted`.execute(tx.query);
    return ids.length;
  });
}

const webhookColumns = [
  "id",
  "agent_id",
  "url",
  "events",
  "sealed_secrets",
  "status",
  "last_status_change_at",
  "recent_failures",
  "created_at",
] as const satisfies readonly (keyof Row<"webhooks">)[];

type WebhookColumns = Pick<Row<"webhooks">, (typeof webhookColumns)[number]>;

function toWebhookRow(db: Db, columns: WebhookColumns): WebhookRow {
  return {
    webhookId: columns.id,
    createdAt: columns.created_at,
    url: columns.url,
    events: columns.events,
    agentId: columns.agent_id,
    secrets: openSecrets(db.sealer, columns.sealed_secrets, secretsContext(columns.id)),
    status: columns.status,
    lastStatusChangeAt: columns.last_status_change_at,
    recentFailures: columns.recent_failures,
  };
}

function seal(db: Db, webhookId: string, secrets: readonly string[]): string {
  const given = secrets.length > 0 ? secrets : [makeWebhookSecret()];
  return sealSecrets(db.sealer, given, secretsContext(webhookId));
}

function secretsContext(webhookId: string): string {
  return `webhooks.secrets:${webhookId}`;
}
