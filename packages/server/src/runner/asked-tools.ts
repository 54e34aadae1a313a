/** Finds and compiles the tools that a call or stage asks for. The one place that looks them up. */

import { targetOfTool } from "@parley/schema";
import type { AskedTool } from "../call/asked-settings.ts";
import type { CompiledTool, FoundTool, McpServerTool } from "../call/compile-tools.ts";
import type { CheckSchema } from "../call/context-schema.ts";
import {
  asksServer,
  compileTools,
  findDefinitions,
  serverField,
  toolReferences,
  toolsOfServer,
} from "../call/selected-tools.ts";
import type { KnownTool, ToolProblems } from "../call/selected-tools.ts";
import { messageOf } from "./error-text.ts";

export interface ToolSources {
  /** Own tools of the account and those of everybody; ids are in lower case. Those that do not exist are left out. */
  readonly findTools: (
    accountId: string,
    wanted: { readonly ids: readonly string[]; readonly names: readonly string[] },
  ) => Promise<readonly KnownTool[]>;
  /** Rejects with the reason when the server cannot be asked; never waits for ever. */
  readonly listMcpTools: (
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<readonly McpServerTool[]>;
  /** Why an address that is written out may not be reached from here, or null (D151). */
  readonly refusedTarget: (url: string, kind: "http" | "websocket") => string | null;
  readonly checkSchema: CheckSchema;
  readonly randomId: () => string;
}

export interface PreparedTools extends ToolProblems {
  /** All of them when there are no problems. */
  readonly tools: readonly CompiledTool[];
}

/** Never rejects for what was asked, only when the store fails. */
export async function prepareTools(
  accountId: string,
  asked: readonly AskedTool[],
  callToken: string,
  sources: ToolSources,
): Promise<PreparedTools> {
  const problems: ToolProblems = { errors: [], unavailable: [] };
  const references = toolReferences(asked);
  const isReferring = references.ids.length + references.names.length > 0;
  const known = isReferring ? await sources.findTools(accountId, references) : [];
  const found = findDefinitions(asked, known, problems);
  const allowed = found.filter((tool) => mayBeReached(tool, sources, problems));
  const listed = new Map<string, ReturnType<ToolSources["listMcpTools"]>>();
  const all = await Promise.all(allowed.map(async (tool) => served(tool, sources, listed, problems)));
  const { checkSchema, randomId } = sources;
  const ground = { callToken, checkSchema, newId: randomId };
  return { ...problems, tools: compileTools(all.flat(), asked, ground, problems) };
}

/** Names are looked up, and judged, when they are dialled. */
function mayBeReached(tool: FoundTool, sources: ToolSources, problems: ToolProblems): boolean {
  const target = targetOfTool(tool.definition);
  const reason = target === null ? null : sources.refusedTarget(target.url, "http");
  if (target === null || reason === null) return true;
  const isOwn = tool.selection.temporaryTool !== undefined;
  const field = isOwn ? `${tool.field}.temporaryTool.${target.member}` : tool.field;
  problems.errors.push({ field, message: `is not allowed: ${reason}` });
  return false;
}

/** Servers that are asked for one call: each is a handshake and some pages of answers, all at once. */
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
