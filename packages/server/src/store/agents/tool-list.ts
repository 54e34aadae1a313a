/** Lists of tools, private and public ones together, and of the calls that had a tool. */

import { BUILT_IN_TOOLS, BUILT_IN_TOOLS_CREATED, type ToolSortOrder } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { callsWithAgents, toCallRow } from "../calls/call-rows.ts";
import { callColumns } from "../database/call-columns.ts";
import type { CallColumns } from "../database/tables/calls.ts";
import type { CallRow } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { readPage, type ListShape, type PageQuery, type PageRows } from "../database/page.ts";
import { likePattern, searchText } from "../database/search-text.ts";
import { toolNameKey, toolSearchText, toToolRow, type ToolColumns, type ToolRow } from "./tools.ts";

export interface ToolFilter {
  readonly ownership?: "public" | "private" | undefined;
  /** Part of the name or the description, whatever its case. */
  readonly search?: string | undefined;
}

interface ListedColumns extends ToolColumns {
  readonly isPublic: boolean;
}

const listedColumns = sql`listed.id as "toolId", listed.name, listed.created_at as "createdAt", listed.document,
  listed.sealed_secrets as "sealedSecrets", listed.is_public as "isPublic"`;

const publicRows = toJsonText(
  BUILT_IN_TOOLS.map(({ toolId, name, definition }) => ({
    id: toolId,
    name,
    name_key: toolNameKey(name),
    search_text: toolSearchText(name, definition),
    created_at: BUILT_IN_TOOLS_CREATED,
    document: { definition },
  })),
);

/** The tools that an account can use, as one table. */
function listedTools(accountId: string): RawBuilder<unknown> {
  return sql`(
    select id, name, name_key, search_text, created_at, document, sealed_secrets, false as is_public
    from tools where account_id = ${accountId}
    union all
    select id, name, name_key collate "C", search_text collate "C", created_at, document, null, true
    from json_to_recordset(${publicRows}::json) as given (id uuid, name text, name_key text, search_text text,
      created_at timestamptz(3), document json)
  ) as listed`;
}

const createdMs = sql`(extract(epoch from listed.created_at) * 1000)::bigint`;
/** Greater than any time in ms of a four-digit year (14 digits). The sum of two is still an exact number. */
const LAST_MS = 99_999_999_999_999;

/** Each order sorts by one value, which is the cursor of a page. */
const sortOrders: Record<ToolSortOrder, Pick<ListShape, "sort" | "sortType" | "descending">> = {
  // Private before public, each newest first.
  default: {
    sort: sql`(case when listed.is_public then 0 else ${LAST_MS}::bigint end + ${createdMs})`,
    sortType: "bigint",
    descending: true,
  },
  // Public by name, then private newest first.
  display: {
    sort: sql`(case when listed.is_public then '0' || listed.name_key
      else '1' || lpad((${LAST_MS}::bigint - ${createdMs})::text, 14, '0') end collate "C")`,
    sortType: "text",
    descending: false,
  },
  alphabetic: { sort: sql`listed.name_key`, sortType: "text", descending: false },
  reverseAlphabetic: { sort: sql`listed.name_key`, sortType: "text", descending: true },
  chronologic: { sort: sql`listed.created_at`, sortType: "timestamptz", descending: false },
  reverseChronologic: { sort: sql`listed.created_at`, sortType: "timestamptz", descending: true },
};

export async function listTools(
  db: Db,
  accountId: string,
  filter: ToolFilter,
  page: PageQuery,
  order: ToolSortOrder = "default",
): Promise<PageRows<ToolRow>> {
  const { ownership, search } = filter;
  const read = await readPage<ListedColumns>(
    db,
    {
      columns: listedColumns,
      from: listedTools(accountId),
      where: [
        sql`true`,
        ...(ownership === undefined ? [] : [sql`listed.is_public = ${ownership === "public"}`]),
        ...(search === undefined
          ? []
          : [sql`listed.search_text like ${likePattern(searchText([search]).normalize("NFC"))}`]),
      ],
      ...sortOrders[order],
      id: sql`listed.id`,
      idType: "uuid",
    },
    page,
  );
  const rows = read.rows.map((columns): ToolRow => {
    const row = toToolRow(db, columns);
    return columns.isPublic ? { ...row, ownership: "public" } : row;
  });
  return { ...read, rows };
}

export interface ToolHistoryRow {
  readonly call: CallRow;
  /** Failed invocations of the tool in this call. */
  readonly errorCount: number;
}

interface HistoryColumns extends CallColumns {
  readonly tool_errors: number;
}

/** Calls of the account that had the tool in any stage, newest first. */
export async function listToolHistory(
  db: Db,
  accountId: string,
  toolId: string,
  page: PageQuery,
): Promise<PageRows<ToolHistoryRow>> {
  const failures = sql`(
    select count(*) from call_messages as message
    where message.call_id = calls.id and message.role = 'tool_result' and message.error_details is not null
      and not message.initial and exists (
        select 1 from call_tools as had
        where had.stage_id = message.stage_id and had.tool_id = ${toolId} and had.name = message.tool_name))`;
  const read = await readPage<HistoryColumns>(
    db,
    {
      columns: sql`${callColumns}, ${failures} as tool_errors`,
      from: callsWithAgents,
      where: [
        sql`calls.account_id = ${accountId}`,
        sql`calls.id in (select call_id from call_tools where account_id = ${accountId} and tool_id = ${toolId})`,
      ],
      sort: sql`calls.created_at`,
      sortType: "timestamptz",
      id: sql`calls.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return {
    ...read,
    rows: read.rows.map((columns) => ({ call: toCallRow(db, columns), errorCount: columns.tool_errors })),
  };
}
