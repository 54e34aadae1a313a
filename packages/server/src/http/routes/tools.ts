import { Readable } from "node:stream";
import {
  ApiError,
  BUILT_IN_TOOLS,
  headerPrefix,
  targetOfTool,
  type FieldError,
  type ToolWrite,
  validationError,
  type toolRoutes,
} from "@parley/schema";
import { listToolHistory, listTools } from "../../store/agents/tool-list.ts";
import {
  createTools,
  deleteTool,
  getTool,
  getToolDefinition,
  replaceTool,
  type ToolRow,
} from "../../store/agents/tools.ts";
import type { Db } from "../../store/database/db.ts";
import type { RunChange } from "../api/audit.ts";
import type { Handler, HandlerDeps, HandlerResult, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { toolResource } from "../resources/resources.ts";
import { toCallResource } from "./calls.ts";
import { notFound } from "./shared.ts";

const listToolsRoute: Handler<"listTools"> = async ({ accountId, query, list }, { http }) => {
  const { ownership, search, sortOrder } = query;
  const page = await pageAnswer(
    list,
    (wanted) => listTools(http.store.db, accountId, { ownership, search }, wanted, sortOrder),
    toolResource,
  );
  return { status: 200, json: page };
};

const createToolRoute: Handler<"createTool"> = async ({ accountId, body, upload, change }, deps) => {
  if (upload !== null) return importTools(accountId, upload, change, deps);
  refuseTargets([{ tool: body, place: "" }], deps);
  const row = await change((tx) => createTool(tx, accountId, body), { idOf: ({ toolId }) => toolId });
  const headers = { location: `${deps.publicUrl()}/api/tools/${row.toolId}` };
  return { status: 201, json: toolResource(row), headers };
};

async function createTool(tx: Db, accountId: string, tool: ToolWrite): Promise<ToolRow> {
  const [row] = await createTools(tx, accountId, [tool]);
  if (row === undefined) throw new Error("the inserted tool was not returned");
  return row;
}

async function importTools(
  accountId: string,
  file: Uint8Array,
  change: RunChange,
  deps: HandlerDeps,
): Promise<HandlerResult> {
  const read = await deps.http.toolsOfOpenApi(accountId, file);
  if ("errors" in read) throw validationError(read.errors);
  refuseTargets(
    read.tools.map((tool) => ({ tool, place: `${tool.name}.` })),
    deps,
  );
  const idOf = (made: readonly ToolRow[]): string => made[0]?.toolId ?? "";
  const rows = await change((tx) => createTools(tx, accountId, read.tools), { idOf });
  const [first] = rows;
  if (first === undefined) throw new Error("an import without tools was accepted");
  const headers = {
    location: `${deps.publicUrl()}/api/tools/${first.toolId}`,
    [`${headerPrefix(deps.http.settings.apiNames)}Created-Tools`]: rows.map(({ toolId }) => toolId).join(","),
  };
  return { status: 201, json: toolResource(first), headers };
}

const getToolRoute: Handler<"getTool"> = async ({ accountId, params }, { http }) => {
  const row = await getTool(http.store.db, accountId, params.tool_id);
  if (row === null) throw notFound("tool");
  return { status: 200, json: toolResource(row) };
};

const replaceToolRoute: Handler<"replaceTool"> = async ({ accountId, params, body, change }, deps) => {
  refusePublic(params.tool_id);
  refuseTargets([{ tool: body, place: "" }], deps);
  const row = await change((tx) => replaceTool(tx, accountId, params.tool_id, body));
  if (row === null) throw notFound("tool");
  return { status: 200, json: toolResource(row) };
};

const deleteToolRoute: Handler<"deleteTool"> = async ({ accountId, params, change }) => {
  refusePublic(params.tool_id);
  if (!(await change((tx) => deleteTool(tx, accountId, params.tool_id)))) throw notFound("tool");
  return { status: 204 };
};

const listToolHistoryRoute: Handler<"listToolHistory"> = async (input, deps) => {
  const { accountId, params, list } = input;
  const { db } = deps.http.store;
  if ((await getTool(db, accountId, params.tool_id)) === null) throw notFound("tool");
  const toCall = toCallResource(deps);
  const page = await pageAnswer(
    list,
    (wanted) => listToolHistory(db, accountId, params.tool_id, wanted),
    ({ call, errorCount }) => ({ call: toCall(call), errorCount }),
  );
  return { status: 200, json: page };
};

/** An answer that is not text of a known type is sent as data, with its own type. */
const UNKNOWN_TYPE = "application/octet-stream";

const testToolRoute: Handler<"testTool"> = async ({ accountId, params, body }, { http, toolTests }) => {
  const tool = await getToolDefinition(http.store.db, accountId, params.tool_id);
  if (tool === null) throw notFound("tool");
  if (tool.definition.http === undefined) {
    throw new ApiError("validation_failed", "Only an http tool can be tested.");
  }
  const { definition } = tool;
  const running = toolTests.run(accountId, () => http.testTool(definition, body));
  if (running === null) {
    throw new ApiError("rate_limited", "Too many tool tests of this account are running; try again shortly.");
  }
  const outcome = await running;
  if (outcome.kind === "refused") throw validationError(outcome.errors);
  if (outcome.kind === "failed") {
    throw new ApiError("validation_failed", `The tool was not run: ${outcome.reason}.`);
  }
  const headers = { "content-type": outcome.contentType ?? UNKNOWN_TYPE };
  const { status, body: answer } = outcome;
  if (answer.length === 0) return { status, text: "", headers };
  return { status, stream: Readable.from([answer], { objectMode: false }), headers };
};

function refusePublic(toolId: string): void {
  if (BUILT_IN_TOOLS.some((tool) => tool.toolId === toolId)) {
    throw new ApiError("forbidden", "This tool is public and cannot be changed.");
  }
}

interface PlacedTool {
  readonly tool: Pick<ToolWrite, "definition">;
  /** The prefix of field names; empty for the body itself. */
  readonly place: string;
}

/** Literal addresses are refused when stored; names are resolved when they are dialled. */
export function refuseTargets(tools: readonly PlacedTool[], deps: HandlerDeps): void {
  const errors = tools.flatMap(({ tool: { definition }, place }) =>
    refusedTargets(definition, `${place}definition`, deps),
  );
  if (errors.length > 0) throw validationError(errors);
}

/** The same as errors, for a definition at `field`. */
export function refusedTargets(
  definition: ToolWrite["definition"],
  field: string,
  { http }: HandlerDeps,
): FieldError[] {
  const target = targetOfTool(definition);
  const reason = target === null ? null : http.refusedTarget(target.url);
  if (target === null || reason === null) return [];
  return [{ field: `${field}.${target.member}`, message: `is not allowed: ${reason}` }];
}

export const toolHandlers: HandlersOf<typeof toolRoutes> = {
  listTools: listToolsRoute,
  createTool: createToolRoute,
  getTool: getToolRoute,
  replaceTool: replaceToolRoute,
  deleteTool: deleteToolRoute,
  listToolHistory: listToolHistoryRoute,
  testTool: testToolRoute,
};
