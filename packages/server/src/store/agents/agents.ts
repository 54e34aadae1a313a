/** Agents with their immutable revisions. */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { deleteBatchesOfAgent } from "../batches/batches.ts";
import { creationTime } from "../database/creation-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { eraseAnswersAbout } from "../accounts/idempotent-answers.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { readPage, type ListShape, type PageQuery, type PageRows } from "../database/page.ts";
import { documentForAnswer, openDocument, sealDocument } from "../secrets/redaction.ts";
import { restoreMasked } from "../secrets/restore-masked.ts";
import { likePattern } from "../database/search-text.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import { dropAgentFromSip } from "../telephony/sip-configs.ts";
import { MaskedValueError } from "../database/store-errors.ts";
import { dropNumbersOfAgent } from "../telephony/phone-numbers.ts";
import { dropAgentFromTelephony } from "../telephony/telephony-configs.ts";
import { deleteWebhooksOfAgent } from "../webhooks/webhooks.ts";

/** Dates are ISO 8601 UTC with milliseconds. */
export interface AgentRow {
  readonly agentId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly publishedRevisionId: string;
  /** Creation of the published revision. */
  readonly updatedAt: string;
  /** Write-only secrets left out, header values masked. */
  readonly callTemplate: Readonly<Record<string, unknown>> | null;
  /** Calls ever created from it, deleted ones included. */
  readonly callsCount: number;
}

export interface NewAgent {
  /** Undefined: derived from the id. */
  readonly name?: string | undefined;
  readonly callTemplate: object | null;
}

/** An absent member stays as it is; `callTemplate` is replaced as a whole, null clears it. */
export interface AgentPatch {
  readonly name?: string | undefined;
  readonly callTemplate?: object | null | undefined;
}

/** @throws MaskedValueError when a value is one that only an answer can hold. */
export async function createAgent(db: Db, accountId: string, agent: NewAgent): Promise<AgentRow> {
  const agentId = randomUUID();
  const name = toStorableText(agent.name ?? `agent-${agentId.slice(0, 8)}`);
  const revision = newRevision(agentId, name, agent.callTemplate, null);
  const sealed = sealTemplate(db, revision);
  await sql`
    with revision as (
      insert into agent_revisions (id, agent_id, account_id, name, call_template, sealed_secrets, created_at)
      values (${revision.revisionId}, ${agentId}, ${accountId}, ${name}, ${sealed.document}, ${sealed.sealedSecrets},
        ${revision.createdAt})
    )
    insert into agents (id, account_id, name, name_key, created_at, published_revision_id)
    values (${agentId}, ${accountId}, ${name}, ${nameKey(name)}, ${revision.createdAt}, ${revision.revisionId})`.execute(
    db.query,
  );
  const createdAt = revision.createdAt.toISOString();
  return {
    agentId,
    name,
    createdAt,
    publishedRevisionId: revision.revisionId,
    updatedAt: createdAt,
    callTemplate: templateForAnswer(db, revision.revisionId, sealed.stored, sealed.sealedSecrets),
    callsCount: 0,
  };
}

const ownColumns = selectList("agents", {
  agentId: "id",
  name: "name",
  createdAt: "created_at",
  publishedRevisionId: "published_revision_id",
  callsCount: "calls_count",
});

const revisionColumns = selectList(
  "agent_revisions",
  { updatedAt: "created_at", callTemplate: "call_template", sealedSecrets: "sealed_secrets" },
  "revision",
);

type AgentColumns = Selected<typeof ownColumns> & Selected<typeof revisionColumns>;

const agentColumns = sql`${ownColumns}, ${revisionColumns}`;

const agentsWithRevisions = sql`agents join agent_revisions as revision on revision.id = agents.published_revision_id`;

export async function getAgent(db: Db, accountId: string, agentId: string): Promise<AgentRow | null> {
  const columns = await readAgent(db, accountId, agentId);
  return columns === null ? null : toAgentRow(db, columns);
}

/** The published revision with its secrets, for creating a call. */
export interface AgentForCall {
  readonly agentId: string;
  readonly name: string;
  readonly revisionId: string;
  readonly callTemplate: Record<string, unknown> | null;
}

export async function getAgentForCall(
  db: Db,
  accountId: string,
  agentId: string,
): Promise<AgentForCall | null> {
  const columns = await readAgent(db, accountId, agentId);
  if (columns === null) return null;
  return {
    agentId,
    name: columns.name,
    revisionId: columns.publishedRevisionId,
    callTemplate: openTemplate(db, columns),
  };
}

/** By id alone: the webhook of a carrier has no account before its signature was checked. Null: there is no such agent. */
export async function accountOfAgent(db: Db, agentId: string): Promise<string | null> {
  const read = await db.query
    .selectFrom("agents")
    .select("account_id")
    .where("id", "=", agentId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return read?.account_id ?? null;
}

export interface AgentSort {
  readonly field: "name" | "created";
  readonly descending: boolean;
}

const newestFirst: AgentSort = { field: "created", descending: true };

const sortExpressions: Record<AgentSort["field"], Pick<ListShape, "sort" | "sortType">> = {
  name: { sort: sql`agents.name_key`, sortType: "text" },
  created: { sort: sql`agents.created_at`, sortType: "timestamptz" },
};

/** `search`: part of the name, whatever its case. */
export async function listAgents(
  db: Db,
  accountId: string,
  filter: { readonly search?: string | undefined },
  page: PageQuery,
  sort: AgentSort = newestFirst,
): Promise<PageRows<AgentRow>> {
  const { search } = filter;
  const read = await readPage<AgentColumns>(
    db,
    {
      columns: agentColumns,
      from: agentsWithRevisions,
      where: [
        sql`agents.account_id = ${accountId}`,
        sql`agents.deleted_at is null`,
        ...(search === undefined ? [] : [sql`agents.name_key like ${likePattern(nameKey(search))}`]),
      ],
      ...sortExpressions[sort.field],
      id: sql`agents.id`,
      idType: "uuid",
      descending: sort.descending,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toAgentRow(db, columns)) };
}

/**
 * Publishes a new revision if the patch changes something. A masked value stands for the stored value that it masks.
 * Null: the account has no such agent.
 * @throws MaskedValueError when a masked value has no stored value.
 */
export async function updateAgent(
  db: Db,
  accountId: string,
  agentId: string,
  patch: AgentPatch,
): Promise<AgentRow | null> {
  return inTransaction(db, async (tx) => {
    // Locked by a separate statement: only a later one sees the revision that a concurrent patch has published.
    await sql`select id from agents where id = ${agentId} and account_id = ${accountId} for update`.execute(
      tx.query,
    );
    const present = await readAgent(tx, accountId, agentId);
    if (present === null) return null;
    const storedTemplate = openTemplate(tx, present);
    const name = patch.name === undefined ? present.name : toStorableText(patch.name);
    const template = patch.callTemplate === undefined ? storedTemplate : patch.callTemplate;
    const revision = newRevision(agentId, name, template, storedTemplate);
    const unchanged = name === present.name && isDeepStrictEqual(revision.template, storedTemplate);
    if (unchanged) return toAgentRow(tx, present);
    const sealed = sealTemplate(tx, revision);
    await sql`
      with revision as (
        insert into agent_revisions (id, agent_id, account_id, name, call_template, sealed_secrets, created_at)
        values (${revision.revisionId}, ${agentId}, ${accountId}, ${name}, ${sealed.document},
          ${sealed.sealedSecrets}, ${revision.createdAt})
      )
      update agents set name = ${name}, name_key = ${nameKey(name)}, published_revision_id = ${revision.revisionId}
      where id = ${agentId} and account_id = ${accountId}`.execute(tx.query);
    return {
      ...toAgentRow(tx, present),
      name,
      publishedRevisionId: revision.revisionId,
      updatedAt: revision.createdAt.toISOString(),
      callTemplate: templateForAnswer(tx, revision.revisionId, sealed.stored, sealed.sealedSecrets),
    };
  });
}

/** What is deleted with an agent, in this order. Each function takes the transaction, the account and the agent. */
const deletedWithAgent: readonly ((tx: Db, accountId: string, agentId: string) => Promise<void>)[] = [
  deleteRevisions,
  deleteWebhooksOfAgent,
  dropAgentFromTelephony,
  dropNumbersOfAgent,
  dropAgentFromSip,
  deleteBatchesOfAgent,
  eraseAnswersAbout,
];

/**
 * Deletes an agent, all its revisions and everything that refers to it. Its id and last name stay for its calls. False:
 * the account has no such agent.
 */
export async function deleteAgent(db: Db, accountId: string, agentId: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const deleted = await sql`
      update agents set deleted_at = ${new Date()}
      where id = ${agentId} and account_id = ${accountId} and deleted_at is null returning id`.execute(
      tx.query,
    );
    if (deleted.rows.length === 0) return false;
    for (const remove of deletedWithAgent) await remove(tx, accountId, agentId);
    return true;
  });
}

async function deleteRevisions(tx: Db, accountId: string, agentId: string): Promise<void> {
  await tx.query
    .deleteFrom("agent_revisions")
    .where("agent_id", "=", agentId)
    .where("account_id", "=", accountId)
    .execute();
}

async function readAgent(db: Db, accountId: string, agentId: string): Promise<AgentColumns | null> {
  const read = await sql<AgentColumns>`${preparedStatement}
    select ${agentColumns} from ${agentsWithRevisions}
    where agents.id = ${agentId} and agents.account_id = ${accountId} and agents.deleted_at is null`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}

interface Revision {
  readonly revisionId: string;
  readonly agentId: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Secrets in their places, as JSON gives it back. */
  readonly template: Record<string, unknown> | null;
}

function newRevision(
  agentId: string,
  name: string,
  template: object | null,
  stored: Record<string, unknown> | null,
): Revision {
  const restored = template === null ? null : restoreMasked(template, stored);
  if (restored !== null && restored.unresolved.length > 0) {
    throw new MaskedValueError(restored.unresolved.map((path) => `callTemplate.${path}`));
  }
  return {
    revisionId: randomUUID(),
    agentId,
    name,
    createdAt: creationTime(),
    template:
      restored === null ? null : (JSON.parse(toJsonText(restored.document)) as Record<string, unknown>),
  };
}

function sealTemplate(
  db: Db,
  revision: Revision,
): {
  readonly document: string | null;
  readonly sealedSecrets: string | null;
  readonly stored: Record<string, unknown> | null;
} {
  if (revision.template === null) return { document: null, sealedSecrets: null, stored: null };
  return sealDocument(db.sealer, revision.template, revisionContext(revision.revisionId));
}

function openTemplate(db: Db, columns: AgentColumns): Record<string, unknown> | null {
  if (columns.callTemplate === null) return null;
  const context = revisionContext(columns.publishedRevisionId);
  return openDocument(db.sealer, columns.callTemplate, columns.sealedSecrets, context);
}

function templateForAnswer(
  db: Db,
  revisionId: string,
  stored: Record<string, unknown> | null,
  sealedSecrets: string | null,
): Record<string, unknown> | null {
  return stored === null
    ? null
    : documentForAnswer(db.sealer, stored, sealedSecrets, revisionContext(revisionId));
}

function toAgentRow(db: Db, columns: AgentColumns): AgentRow {
  return {
    agentId: columns.agentId,
    name: columns.name,
    createdAt: columns.createdAt,
    publishedRevisionId: columns.publishedRevisionId,
    updatedAt: columns.updatedAt,
    callTemplate: templateForAnswer(
      db,
      columns.publishedRevisionId,
      columns.callTemplate,
      columns.sealedSecrets,
    ),
    callsCount: columns.callsCount,
  };
}

/**
 * The key by which names are sorted and searched. Computed here, because the two databases convert case differently.
 */
function nameKey(name: string): string {
  return toStorableText(name).normalize("NFC").toLowerCase();
}

function revisionContext(revisionId: string): string {
  return `agent_revisions:${revisionId}`;
}
