/** Copies of the tools that stages of calls had. */

import type { CallTool } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";

/** Limit of a list: selected tools, and those of tool servers, of all stages of a call. */
const LISTED_TOOLS = 1_000;

/**
 * A statement that inserts the tools of a stage; `stage` is a table with its `id`, `call_id` and `account_id`. Existing
 * rows stay as they are.
 */
export function insertCallTools(stage: string, tools: readonly CallTool[]): RawBuilder<unknown> {
  const rows = tools.map(({ callToolId, toolId, name, definition }, position) => ({
    id: callToolId,
    position,
    tool_id: toolId,
    name,
    definition,
  }));
  return sql`insert into call_tools (stage_id, id, call_id, account_id, position, tool_id, name, definition)
    select stage.id, given.id, stage.call_id, stage.account_id, given.position, given.tool_id, given.name,
      given.definition
    from ${sql.table(stage)} as stage, json_to_recordset(${toJsonText(rows)}::json) as given (id uuid,
      position integer, tool_id uuid, name text, definition json)
    on conflict do nothing`;
}

const toolColumns = sql`tool.id as "callToolId", tool.tool_id as "toolId", tool.name, tool.definition`;

/** In the order of the selection. A stage of another account has none. */
export async function listStageTools(
  db: Db,
  accountId: string,
  callId: string,
  stageId: string,
): Promise<readonly CallTool[]> {
  const read = await sql<CallTool>`
    select ${toolColumns} from call_tools as tool
    where tool.stage_id = ${stageId} and tool.call_id = ${callId} and tool.account_id = ${accountId}
    order by tool.position limit ${LISTED_TOOLS}`.execute(db.query);
  return read.rows;
}

/** The tools of all stages, in order. A tool that a later stage has unchanged is listed once. */
export async function listCallTools(db: Db, accountId: string, callId: string): Promise<readonly CallTool[]> {
  const read = await sql<CallTool>`
    select "callToolId", "toolId", name, definition from (
      select distinct on (tool.tool_id, tool.name, tool.definition::text) ${toolColumns},
        stage.position as stage_position, tool.position
      from call_tools as tool join call_stages as stage on stage.id = tool.stage_id
      where tool.call_id = ${callId} and tool.account_id = ${accountId}
      order by tool.tool_id, tool.name, tool.definition::text, stage.position, tool.position
    ) as first_ones order by stage_position, position limit ${LISTED_TOOLS}`.execute(db.query);
  return read.rows;
}
