/** Finds and compiles the requested tools of a call or stage. The only place that looks them up. */

import { targetOfTool } from "@parley/schema";
import type { RequestedTool } from "../../plan/requested-settings.ts";
import { parameterSchema } from "../../plan/compile-tools.ts";
import type { CompiledTool, FoundTool, McpServerTool } from "../../plan/compile-tools.ts";
import type { SchemaFault } from "../../plan/context-schema.ts";
import {
  asksServer,
  compileTools,
  findDefinitions,
  serverField,
  toolReferences,
  toolsOfServer,
} from "../../plan/selected-tools.ts";
import type { KnownTool, ToolProblems } from "../../plan/selected-tools.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CheckSchema } from "./schema-checks.ts";

export interface ToolSources {
  /** The account's own tools and the public ones; ids are in lower case. Tools that do not exist are left out. */
  readonly findTools: (
    accountId: string,
    wanted: { readonly ids: readonly string[]; readonly names: readonly string[] },
  ) => Promise<readonly KnownTool[]>;
  /** Rejects with the reason when the server cannot be reached, at the latest after its time limit. */
  readonly listMcpTools: (
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<readonly McpServerTool[]>;
  /** Why a literal address may not be reached from here, or null. */
  readonly refusedTarget: (url: string, kind: "http" | "websocket") => string | null;
  readonly checkSchema: CheckSchema;
  readonly randomId: () => string;
}

export interface PreparedTools extends ToolProblems {
  /** All of them when there are no problems. */
  readonly tools: readonly CompiledTool[];
}

/** Rejects only when the store fails, never because of the request. */
export async function prepareTools(
  accountId: string,
  requested: readonly RequestedTool[],
  callToken: string,
  sources: ToolSources,
): Promise<PreparedTools> {
  const problems: ToolProblems = { errors: [], unavailable: [] };
  const references = toolReferences(requested);
  const isReferring = references.ids.length + references.names.length > 0;
  const known = isReferring ? await sources.findTools(accountId, references) : [];
  const found = findDefinitions(requested, known, problems);
  const allowed = found.filter((tool) => mayBeReached(tool, sources, problems));
  const listed = new Map<string, ReturnType<ToolSources["listMcpTools"]>>();
  const all = await Promise.all(allowed.map(async (tool) => served(tool, sources, listed, problems)));
  const tools = all.flat();
  const faults = new Map<FoundTool, readonly SchemaFault[]>();
  for (const tool of tools) faults.set(tool, await sources.checkSchema(accountId, parameterSchema(tool)));
  const schemaFaults = (tool: FoundTool): readonly SchemaFault[] => faults.get(tool) ?? [];
  const ground = { callToken, schemaFaults, newId: sources.randomId };
  return { ...problems, tools: compileTools(tools, requested, ground, problems) };
}

/** Names are resolved and checked when they are dialled. */
function mayBeReached(tool: FoundTool, sources: ToolSources, problems: ToolProblems): boolean {
  const target = targetOfTool(tool.definition);
  const reason = target === null ? null : sources.refusedTarget(target.url, "http");
  if (target === null || reason === null) return true;
  const isOwn = tool.selection.temporaryTool !== undefined;
  const field = isOwn ? `${tool.field}.temporaryTool.${target.member}` : tool.field;
  problems.errors.push({ field, message: `is not allowed: ${reason}` });
  return false;
}

/** MCP servers queried for one call, concurrently: each is a handshake and some pages of answers. */
const MAX_SERVERS = 8;

async function served(
  tool: FoundTool,
  sources: ToolSources,
  listed: Map<string, ReturnType<ToolSources["listMcpTools"]>>,
  problems: ToolProblems,
): Promise<readonly FoundTool[]> {
  const { mcp } = tool.definition;
  if (mcp === undefined || !asksServer(tool)) return [tool];
  try {
    const { serverUrl, headers = {} } = mcp;
    const key = JSON.stringify([serverUrl, headers]);
    if (!listed.has(key) && listed.size >= MAX_SERVERS) {
      throw new Error(`a call may take tools of at most ${String(MAX_SERVERS)} servers`);
    }
    const offered = listed.get(key) ?? sources.listMcpTools(serverUrl, headers);
    listed.set(key, offered);
    return toolsOfServer(tool, await offered, problems);
  } catch (error) {
    const message = `must be the address of a server that lists its tools: ${messageOf(error)}`;
    problems.errors.push({ field: serverField(tool, "serverUrl"), message });
    return [];
  }
}
