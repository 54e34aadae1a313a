/** The messages of a call, stage by stage. */

import { sql, type RawBuilder } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { noteLateText } from "../call-texts/due-texts.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import type { MessageRole } from "../database/tables/transcripts.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";

export interface NewMessage {
  /** Position in the stage, from 0. */
  readonly index: number;
  readonly role: MessageRole;
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
  readonly errorDetails: string | null;
  /** Call state after a tool result that changed it. */
  readonly callState?: object | null;
  /** Media clock since the join; null before it. Rounded to whole ms. */
  readonly timespan: { readonly startMs: number; readonly endMs: number } | null;
  readonly wallClockTimespan: { readonly startMs: number; readonly endMs: number } | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface MessageRow extends NewMessage {
  readonly stageId: string;
  readonly callState: Record<string, unknown> | null;
  /** Part of the history that the stage began with. */
  readonly initial: boolean;
}

const MESSAGE_COLUMNS = [
  "stage_id",
  "message_index",
  "role",
  "text",
  "medium",
  "invocation_id",
  "tool_name",
  "error_details",
  "call_state",
  "start_ms",
  "end_ms",
  "wall_start_ms",
  "wall_end_ms",
  "metadata",
  "initial",
] as const satisfies readonly (keyof Row<"call_messages">)[];

type MessageColumns = Pick<Row<"call_messages">, (typeof MESSAGE_COLUMNS)[number]>;

const messageColumns = sql.join(MESSAGE_COLUMNS.map((name) => sql.ref(name)));

/**
 * Maximum number of messages of a stage. The order of a call's messages is `stage position * MESSAGES_PER_STAGE +
 * index`, which is an exact number up to the nine-millionth stage.
 */
export const MESSAGES_PER_STAGE = 1_000_000_000;

/**
 * Writes a message, or replaces an older one at the same index of the stage. `version` counts the texts at that index: of
 * two writes that overlap, the newer text stays.
 *
 * @returns `late`: written, and the call has ended already; `refused`: the account has no such stage, or a newer text
 */
export async function appendMessage(
  db: Db,
  accountId: string,
  callId: string,
  stageId: string,
  message: NewMessage,
  version = 0,
): Promise<"written" | "late" | "refused"> {
  const { rows } = await sql<{ isLate: boolean }>`${preparedStatement}
    with late as (${noteLateText(callId)})
    insert into call_messages (stage_id, message_index, call_id, account_id, ordinal, role, text, medium,
      invocation_id, tool_name, error_details, call_state, start_ms, end_ms, wall_start_ms, wall_end_ms, metadata,
      initial, created_at, version)
    select id, ${message.index}::int, call_id, account_id,
      position::bigint * ${MESSAGES_PER_STAGE}::bigint + ${message.index}::bigint,
      ${message.role}, ${toStorableText(message.text)}, ${message.medium}, ${message.invocationId},
      ${message.toolName}, ${storable(message.errorDetails)}, ${jsonOrNull(message.callState)}::json,
      ${wholeMs(message.timespan?.startMs)}::int, ${wholeMs(message.timespan?.endMs)}::int,
      ${wholeMs(message.wallClockTimespan?.startMs)}::int, ${wholeMs(message.wallClockTimespan?.endMs)}::int,
      ${toJsonText(message.metadata)}::json, position > 0 and not inherits_messages and ${isTimeless(message)}::boolean,
      clock_timestamp(), ${version}::int
    from call_stages where id = ${stageId} and call_id = ${callId} and account_id = ${accountId}
    on conflict (stage_id, message_index) do update set role = excluded.role, text = excluded.text,
      medium = excluded.medium, invocation_id = excluded.invocation_id, tool_name = excluded.tool_name,
      error_details = excluded.error_details, call_state = excluded.call_state, start_ms = excluded.start_ms,
      end_ms = excluded.end_ms, wall_start_ms = excluded.wall_start_ms, wall_end_ms = excluded.wall_end_ms,
      metadata = excluded.metadata, version = excluded.version
    where call_messages.version <= excluded.version
    returning exists (select 1 from late) as "isLate"`.execute(db.query);
  const [row] = rows;
  if (row === undefined) return "refused";
  return row.isLate ? "late" : "written";
}

/** An initial message, with which a later stage can begin: it was not said during the call. */
function isTimeless({ timespan: media, wallClockTimespan: wall }: NewMessage): boolean {
  return media === null && wall === null;
}

/**
 * `last_stage`: the last stage with its own or inherited history. `in_call`: all stages, without initial messages.
 * `stage`: one stage with its history.
 */
export type MessageFilter =
  | { readonly mode: "last_stage" }
  | { readonly mode: "in_call" }
  | { readonly mode: "stage"; readonly stageId: string };

/** Oldest first. A call of another account has no rows. */
export async function listMessages(
  db: Db,
  accountId: string,
  callId: string,
  filter: MessageFilter,
  page: PageQuery,
): Promise<PageRows<MessageRow>> {
  const read = await readPage<MessageColumns>(
    db,
    {
      columns: messageColumns,
      from: sql`call_messages`,
      where: [sql`call_id = ${callId}`, sql`account_id = ${accountId}`, stageCondition(callId, filter)],
      sort: sql`ordinal`,
      sortType: "bigint",
      id: sql`stage_id`,
      idType: "uuid",
      descending: false,
    },
    page,
  );
  return { ...read, rows: read.rows.map(toMessageRow) };
}

/** One message by its index. A call of another account has none. */
export async function getMessage(
  db: Db,
  accountId: string,
  callId: string,
  stageId: string,
  index: number,
): Promise<MessageRow | null> {
  const read = await sql<MessageColumns>`
    select ${messageColumns} from call_messages
    where stage_id = ${stageId} and message_index = ${index}::int and call_id = ${callId} and account_id = ${accountId}`.execute(
    db.query,
  );
  const columns = read.rows[0];
  return columns === undefined ? null : toMessageRow(columns);
}

/** The newest messages of the last stage with its history, oldest first. */
export async function newestMessages(
  db: Db,
  accountId: string,
  callId: string,
  limit: number,
): Promise<MessageRow[]> {
  const read = await sql<MessageColumns>`
    select ${messageColumns} from call_messages
    where call_id = ${callId} and account_id = ${accountId} and ${stageCondition(callId, { mode: "last_stage" })}
    order by ordinal desc limit ${limit}`.execute(db.query);
  return read.rows.map(toMessageRow).toReversed();
}

function stageCondition(callId: string, filter: MessageFilter): RawBuilder<unknown> {
  if (filter.mode === "in_call") return sql`not initial`;
  const stage =
    filter.mode === "stage"
      ? sql`shown.id = ${filter.stageId}`
      : sql`shown.position = (select max(position) from call_stages where call_id = ${callId})`;
  // The history of a stage begins with the last stage, at or before it, that does not inherit messages.
  return sql`stage_id in (
    select part.id from call_stages as shown join call_stages as part on part.call_id = shown.call_id
    where shown.call_id = ${callId} and ${stage} and part.position <= shown.position and part.position >= (
      select max(start.position) from call_stages as start
      where start.call_id = shown.call_id and start.position <= shown.position and not start.inherits_messages))`;
}

function toMessageRow(columns: MessageColumns): MessageRow {
  return {
    stageId: columns.stage_id,
    index: columns.message_index,
    role: columns.role,
    text: columns.text,
    medium: columns.medium,
    invocationId: columns.invocation_id,
    toolName: columns.tool_name,
    errorDetails: columns.error_details,
    callState: columns.call_state,
    timespan: timespan(columns.start_ms, columns.end_ms),
    wallClockTimespan: timespan(columns.wall_start_ms, columns.wall_end_ms),
    metadata: columns.metadata,
    initial: columns.initial,
  };
}

function timespan(startMs: number | null, endMs: number | null): { startMs: number; endMs: number } | null {
  return startMs === null || endMs === null ? null : { startMs, endMs };
}

function wholeMs(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}

function storable(text: string | null): string | null {
  return text === null ? null : toStorableText(text);
}

function jsonOrNull(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : toJsonText(value);
}

/** The initial messages of a stage, as the statement that stores them reads them. */
export function historyJson(messages: readonly NewMessage[]): string {
  for (const message of messages) {
    if (message.index < 0 || message.index >= MESSAGES_PER_STAGE) throw new RangeError("message index");
  }
  return toJsonText(
    messages.map((message) => ({
      message_index: message.index,
      role: message.role,
      text: message.text,
      medium: message.medium,
      invocation_id: message.invocationId,
      tool_name: message.toolName,
      error_details: message.errorDetails,
      call_state: message.callState ?? null,
      metadata: message.metadata,
    })),
  );
}
