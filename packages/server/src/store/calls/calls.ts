/** Calls: creation, join and end. Lists are in `call-list.ts`. */

import type { CallTool, CallUseRecord, EndReason, SipTermination } from "@parley/schema";
import { sql } from "kysely";
import { callContext, callsWithAgents, planContext, toCallRow, tokenContext } from "./call-rows.ts";
import { callColumns, ownCallColumns } from "../database/call-columns.ts";
import { insertCallTools } from "./call-tools.ts";
import { sipAtEnd } from "./sip-terminations.ts";
import { noteEndedTexts } from "../call-texts/due-texts.ts";
import type { Row } from "../database/database.ts";
import { databaseTime, laterBy } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { isOfNode } from "../database/running-nodes.ts";
import { addEngineUse } from "../accounts/engine-usage.ts";
import { countEndedCalls, DEFAULT_METERING, finalStatus, type Metering } from "../accounts/metering.ts";
import type { BillingStatus, CallColumns } from "../database/tables/calls.ts";
import { historyJson, type NewMessage } from "./messages.ts";
import { sealDocument } from "../secrets/redaction.ts";
import { restoreMasked } from "../secrets/restore-masked.ts";
import { callSearchText } from "../database/search-text.ts";
import { hashToken } from "../secrets/secrets.ts";
import { stageContext } from "./stages.ts";
import { AgentGoneError, MaskedValueError } from "../database/store-errors.ts";
import { insertDeliveries } from "../webhooks/webhook-events.ts";

export interface NewCall {
  readonly callId: string;
  readonly agentId: string | null;
  readonly agentRevisionId: string | null;
  /** The process that runs the call; `listUnfinishedCalls` finds it by this after a restart. */
  readonly nodeId: string;
  /** Wall clock, ms since 1970. */
  readonly createdAtMs: number;
  /** After this the call cannot be joined. */
  readonly joinDeadlineMs: number;
  /** Key of the call's medium, such as `serverWebSocket`. */
  readonly mediumKind: string;
  /** Of the voice that the first stage refers to. Absent or null: none. */
  readonly voiceId?: string | null | undefined;
  /** Null where the service dials. Stored as a hash for comparison, and sealed for the join URL. */
  readonly joinToken: string | null;
  /** Settings of the Call resource as JSON, with their secrets, which are sealed here. */
  readonly settings: object;
  /** The compiled plan; any JSON. Sealed as a whole. */
  readonly plan: object;
  readonly metadata: Readonly<Record<string, string>>;
  readonly requestContext: object | null;
  /** A user of the console makes it there. Absent: no. */
  readonly isOfConsole?: boolean;
  /** It is a conversation about the caller of this call of the account. Absent: it is none. */
  readonly consultationOf?: string | undefined;
  readonly stage: {
    readonly stageId: string;
    /** Settings of the CallStage resource, with their secrets. */
    readonly settings: object;
    /** Absent: none. */
    readonly tools?: readonly CallTool[];
  };
  readonly initialMessages: readonly NewMessage[];
}

/** Dates are ISO 8601 UTC with milliseconds. */
export interface CallRow {
  readonly callId: string;
  readonly accountId: string;
  /** By its present, or last, name. */
  readonly agent: { readonly agentId: string; readonly name: string } | null;
  readonly agentRevisionId: string | null;
  readonly createdAt: string;
  readonly joinedAt: string | null;
  readonly endedAt: string | null;
  readonly endReason: EndReason | null;
  readonly clientVersion: string | null;
  readonly mediumKind: string;
  /** A secret for those who may read the call: for the join URL, never for a log. */
  readonly joinToken: string | null;
  /** Secrets masked or left out, but for those of callbacks, which depend on the reader. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly requestContext: Readonly<Record<string, unknown>> | null;
  /** Joined wall-clock time; null until the end. */
  readonly durationMs: number | null;
  readonly billedDurationMs: number | null;
  readonly billingStatus: BillingStatus;
  readonly shortSummary: string | null;
  readonly summary: string | null;
  /** An engine failed, or an event has the severity error. */
  readonly hasErrors: boolean;
  /** The beginning of what the caller said first, or of what the agent said if the caller said nothing. */
  readonly firstWords: string | null;
  /** The median of the times from the end of the caller's speech to the agent's voice. */
  readonly medianReplyMs: number | null;
  /** Tokens of side threads; null: the call had none. */
  readonly sideInputTokens: number | null;
  readonly sideOutputTokens: number | null;
  /** Null until the end, and for other media. */
  readonly sipTermination: SipTermination | null;
  readonly sipBilledMs: number | null;
  /** Null until the end, and for calls of which nobody knows it. */
  readonly engineUse: CallUseRecord | null;
}

/**
 * Writes the call, its first stage with its tools, its initial messages, the agent's counter and the webhook deliveries
 * with one statement.
 * @throws AgentGoneError when the account no longer has this agent; nothing is written. The same for a conversation about
 * a call that was deleted, whose words its instructions quote.
 * @throws MaskedValueError when a header value is one that only an answer can hold.
 */
export async function insertCall(db: Db, accountId: string, call: NewCall): Promise<void> {
  const { callId, stage, consultationOf = null } = call;
  refuseMaskedValues(call.settings);
  const settings = sealDocument(db.sealer, call.settings, callContext(callId));
  const stageSettings = sealDocument(db.sealer, stage.settings, stageContext(stage.stageId));
  const createdAt = new Date(call.createdAtMs);
  // Nodes compare it with the clock of the database, which may differ from the one that the caller counted from.
  const joinDeadline = laterBy(databaseTime, call.joinDeadlineMs - Date.now());
  const inserted = await sql`${preparedStatement}
    with counted as (
      update agents set calls_count = calls_count + 1
      where id = ${call.agentId}::uuid and account_id = ${accountId} and deleted_at is null returning id
    ), caller as (
      select id from calls where id = ${consultationOf}::uuid and account_id = ${accountId} for key share
    ), created as (
      insert into calls (id, account_id, agent_id, agent_revision_id, node_id, created_at, join_deadline_at,
        medium_kind, voice_id, join_token_hash, sealed_join_token, settings, sealed_secrets, sealed_plan, metadata, search_text,
        request_context, is_of_console, consultation_of)
      select ${callId}::uuid, ${accountId}::uuid, ${call.agentId}::uuid, ${call.agentRevisionId}::uuid,
        ${call.nodeId}, ${createdAt}::timestamptz, ${joinDeadline}, ${call.mediumKind},
        ${call.voiceId ?? null}::uuid, ${call.joinToken === null ? null : hashToken(call.joinToken)},
        ${call.joinToken === null ? null : db.sealer.seal(call.joinToken, tokenContext(callId))},
        ${settings.document}::json, ${settings.sealedSecrets},
        ${db.sealer.seal(JSON.stringify(call.plan), planContext(callId))}, ${toJsonText(call.metadata)}::jsonb,
        ${callSearchText(accountId, call)},
        ${call.requestContext === null ? null : toJsonText(call.requestContext)}::json, ${call.isOfConsole ?? false}::boolean,
        ${consultationOf}::uuid
      where (${call.agentId}::uuid is null or exists (select 1 from counted))
        and (${consultationOf}::uuid is null or exists (select 1 from caller)) returning ${ownCallColumns}
    ), notified as (
      ${insertDeliveries("created", "call.started", sql`calls.created_at`)}
    ), stage as (
      insert into call_stages (id, call_id, account_id, position, created_at, settings, sealed_secrets)
      select ${stage.stageId}::uuid, id, account_id, 0, ${createdAt}::timestamptz, ${stageSettings.document}::json,
        ${stageSettings.sealedSecrets} from created returning id, call_id, account_id
    ), tools_of_stage as (
      ${insertCallTools("stage", stage.tools ?? [])}
    ), history as (
      insert into call_messages (stage_id, message_index, call_id, account_id, ordinal, role, text, medium,
        invocation_id, tool_name, error_details, call_state, metadata, initial, created_at)
      select stage.id, given.message_index, stage.call_id, stage.account_id, given.message_index, given.role,
        given.text, given.medium, given.invocation_id, given.tool_name, given.error_details, given.call_state,
        given.metadata, true, ${createdAt}::timestamptz
      from stage, json_to_recordset(${historyJson(call.initialMessages)}::json) as given (message_index int,
        role text, text text, medium text, invocation_id text, tool_name text, error_details text, call_state json,
        metadata json)
    )
    select id from created`.execute(db.query);
  if (inserted.rows.length > 0) return;
  if (consultationOf !== null) throw new Error("The call that the conversation is about was deleted.");
  throw new AgentGoneError("The agent does not exist.");
}

/** One member has another name in requests, which the error uses. */
function refuseMaskedValues(settings: object): void {
  const { unresolved } = restoreMasked(settings, null);
  if (unresolved.length === 0) return;
  throw new MaskedValueError(
    unresolved.map((path) => path.replace(/^dataConnectionConfig/, "dataConnection")),
  );
}

/**
 * `notified`: a webhook was or is being notified, so the call stays and must be ended. `not_there`: also when it was
 * joined.
 */
export type RemovalOutcome = "removed" | "notified" | "not_there";

/**
 * Deletes a call that never ran, with its counts and its pending webhook deliveries. For a start that failed right
 * after `insertCall`; a call that was shown to a client is ended instead.
 */
export async function removeUnstartedCall(
  db: Db,
  accountId: string,
  callId: string,
): Promise<RemovalOutcome> {
  return inTransaction(db, async (tx) => {
    if (await lockDeliveries(tx, callId)) return "notified";
    const removed = await sql`
      with removed as (
        delete from calls where id = ${callId} and account_id = ${accountId} and joined_at is null returning id, agent_id
      ), counted as (
        update agents set calls_count = calls_count - 1 from removed where agents.id = removed.agent_id
      ), readmitted as (
        delete from call_admissions using removed where call_admissions.call_id = removed.id
      ), cancelled as (
        delete from webhook_deliveries using removed where webhook_deliveries.call_id = removed.id
      )
      select id from removed`.execute(tx.query);
    return removed.rows.length === 1 ? "removed" : "not_there";
  });
}

/** Locks the deliveries of a call until the transaction ends. True: an attempt was made or is under way. */
async function lockDeliveries(tx: Db, callId: string): Promise<boolean> {
  const locked = await sql<{ attempted: boolean }>`
    select attempt_id is not null or tries > 0 as attempted from webhook_deliveries where call_id = ${callId}
    for update`.execute(tx.query);
  return locked.rows.some(({ attempted }) => attempted);
}

export async function getCall(db: Db, accountId: string, callId: string): Promise<CallRow | null> {
  const read = await sql<CallColumns>`${preparedStatement}
    select ${callColumns} from ${callsWithAgents}
    where calls.id = ${callId} and calls.account_id = ${accountId}`.execute(db.query);
  const columns = read.rows[0];
  return columns === undefined ? null : toCallRow(db, columns);
}

/** What the recovery of a call needs. The plan is any JSON, as it was given to `insertCall`. */
export interface CallForJoin {
  readonly callId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly nodeId: string;
  readonly mediumKind: string;
  readonly joinTokenHash: string | null;
  readonly createdAtMs: number;
  readonly joinDeadlineMs: number;
  /** When this was read, by the clock of the database, which `joinDeadlineMs` belongs to. */
  readonly readAtMs: number;
  readonly joinedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly plan: Record<string, unknown>;
}

/** By id alone: the node that had the call knows no account. */
export async function getCallForJoin(db: Db, callId: string): Promise<CallForJoin | null> {
  const read = await db.query
    .selectFrom("calls")
    .select(["account_id", "agent_id", "node_id", "medium_kind", "join_token_hash", "sealed_plan"])
    .select(["created_at", "join_deadline_at", "joined_at", "ended_at"])
    .select(sql<number>`(extract(epoch from ${databaseTime}) * 1000)::bigint`.as("read_at_ms"))
    .where("id", "=", callId)
    .executeTakeFirst();
  if (read === undefined) return null;
  return {
    callId,
    accountId: read.account_id,
    agentId: read.agent_id,
    nodeId: read.node_id,
    mediumKind: read.medium_kind,
    joinTokenHash: read.join_token_hash,
    createdAtMs: Date.parse(read.created_at),
    joinDeadlineMs: Date.parse(read.join_deadline_at),
    readAtMs: read.read_at_ms,
    joinedAtMs: read.joined_at === null ? null : Date.parse(read.joined_at),
    endedAtMs: read.ended_at === null ? null : Date.parse(read.ended_at),
    plan: JSON.parse(db.sealer.open(read.sealed_plan, planContext(callId))) as Record<string, unknown>,
  };
}

export interface CallJoin {
  readonly joinedAtMs: number;
  readonly clientVersion: string | null;
  /** The node that writes it. Absent: the call belongs to the writer without a doubt. */
  readonly ofNode?: string | undefined;
}

/** False: there is no such call, or it was joined before, or it has ended, or another running node has claimed it. */
export async function markJoined(
  db: Db,
  accountId: string,
  callId: string,
  join: CallJoin,
): Promise<boolean> {
  const version = join.clientVersion === null ? null : toStorableText(join.clientVersion);
  const joined = await sql`${preparedStatement}
    with joined as (
      update calls set joined_at = ${new Date(join.joinedAtMs)}::timestamptz, client_version = ${version}
      where id = ${callId} and account_id = ${accountId} and joined_at is null and ended_at is null
        and ${isOfNode(join.ofNode)}
      returning ${ownCallColumns}
    ), notified as (
      ${insertDeliveries("joined", "call.joined", sql`calls.joined_at`)}
    )
    select id from joined`.execute(db.query);
  return joined.rows.length === 1;
}

export interface CallEnd {
  readonly endReason: EndReason;
  /** Wall clock, ms since 1970. */
  readonly endedAtMs: number;
  readonly metering?: Metering;
  /** What it has used of its engines. Absent or null: nothing, or nobody knows. */
  readonly use?: CallUseRecord | null;
  /** A joined call stays pending until `settleCall`, because work on it remains before it is billed. */
  readonly settlesLater?: boolean;
  /** The node that writes it. Absent: the call belongs to the writer without a doubt. */
  readonly ofNode?: string | undefined;
}

/** `final`: its billing is final as well. `ended_before`: also when another running node has claimed it. */
export type CallEnding = "final" | "pending" | "ended_before";

/** Ends a call once. The same statement meters it, adds it to the usage figures and inserts the webhook deliveries. */
export async function endCall(db: Db, accountId: string, callId: string, end: CallEnd): Promise<CallEnding> {
  const { metering = DEFAULT_METERING, settlesLater = false, use = null } = end;
  const endedAt = sql`${new Date(end.endedAtMs)}::timestamptz`;
  const unitMs = sql`${metering.unitMs}::bigint`;
  const joinedMs = sql`coalesce(greatest(0, round(extract(epoch from ${endedAt} - joined_at) * 1000)), 0)::bigint`;
  const ended = await sql<Pick<Row<"calls">, "billing_status">>`${preparedStatement}
    with ended as (
      update calls set ended_at = ${endedAt}, end_reason = ${end.endReason}, duration_ms = ${joinedMs},
        billed_duration_ms = (${joinedMs} + ${unitMs} - 1) / ${unitMs} * ${unitMs},
        billing_status = case when ${settlesLater}::boolean and joined_at is not null then 'PENDING'
          else ${finalStatus(metering, joinedMs, sql`${end.endReason}::text`)} end,
        ${sipAtEnd(endedAt, unitMs, end.endReason)},
        engine_use = ${use === null ? null : toJsonText(use)}::json
      where id = ${callId} and account_id = ${accountId} and ended_at is null and ${isOfNode(end.ofNode)}
      returning ${ownCallColumns}
    ), notified as (
      ${insertDeliveries("ended", "call.ended", sql`calls.ended_at`)}
    ), notified_of_billing as (
      ${insertDeliveries("ended", "call.billed", databaseTime, sql`calls.billing_status <> 'PENDING'`)}
    ), used as (
      ${countEndedCalls("ended")}
    ), used_of_engines as (
      ${addEngineUse("ended", use)}
    ), texts_due as (
      ${noteEndedTexts("ended")}
    ), unneeded as (
      delete from call_snapshots using ended where call_snapshots.call_id = ended.id
    )
    select billing_status from ended`.execute(db.query);
  const [row] = ended.rows;
  if (row === undefined) return "ended_before";
  return row.billing_status === "PENDING" ? "pending" : "final";
}

export interface UnfinishedCall {
  readonly callId: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly joinedAtMs: number | null;
}

/** Calls that a restart ends at a time; bounds the memory of a start after a crash. */
export const UNFINISHED_CALLS_LIMIT = 1_000;

/**
 * Calls of a node that have not ended and that no process can continue, of all accounts, oldest first, at most
 * `UNFINISHED_CALLS_LIMIT`. End them and list again until none is left.
 */
export async function listUnfinishedCalls(
  db: Db,
  nodeId: string,
  exceptIds: readonly string[] = [],
): Promise<UnfinishedCall[]> {
  const rows = await db.query
    .selectFrom("calls")
    .select(["id", "account_id", "created_at", "joined_at"])
    .where("node_id", "=", nodeId)
    .where("ended_at", "is", null)
    .where(sql<boolean>`id <> all(${exceptIds}::uuid[])`)
    .where(sql<boolean>`not exists (select 1 from call_snapshots where call_id = calls.id)`)
    .orderBy("created_at")
    .limit(UNFINISHED_CALLS_LIMIT)
    .execute();
  return rows.map((row) => ({
    callId: row.id,
    accountId: row.account_id,
    createdAtMs: Date.parse(row.created_at),
    joinedAtMs: row.joined_at === null ? null : Date.parse(row.joined_at),
  }));
}
