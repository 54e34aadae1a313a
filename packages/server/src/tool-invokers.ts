/** Which part of the service runs which kind of tool. */

import { randomUUID } from "node:crypto";
import type { Config } from "./config.ts";
import { openGuardedClient, type GuardedClient } from "./net/guarded-fetch.ts";
import type { ToolAnswer, ToolCall, ToolInvoker, ToolTarget } from "./ports/tool-invoker.ts";
import type { HeaderPrefix } from "./providers/tools-http/tool-request.ts";
import { createToolTester, type TestTool } from "./providers/tools-http/tool-tester.ts";
import { openHttpTools } from "./providers/tools-http/tools-http.ts";
import type { McpTool, McpTools } from "./providers/tools-mcp/tools-mcp.ts";

export type Invokers = Readonly<Record<ToolTarget["kind"], ToolInvoker>>;

/** Closes what it was given. */
export function dispatchTools(invokers: Invokers): ToolInvoker {
  return {
    invoke: (call, signal) => invokers[call.implementation.kind].invoke(call, signal),
    async close() {
      await Promise.all(Object.values(invokers).map((invoker) => invoker.close()));
    },
  };
}

export interface DeploymentTools extends ToolInvoker {
  /** What an MCP server offers; rejects with a short reason. */
  readonly listMcpTools: (
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<readonly McpTool[]>;
  /** Loads what only some calls need, so that the first of them does not wait for it. */
  readonly warm: () => Promise<void>;
}

/** Everything of this deployment; it reaches what `ALLOW_PRIVATE_TARGETS` allows. */
export function openToolInvoker(config: Pick<Config, "allowPrivateTargets" | "apiNames">): DeploymentTools {
  const client = openGuardedClient({ allowed: config.allowPrivateTargets });
  const { load, invoker } = lateMcpTools(client, headerPrefix(config));
  return {
    ...dispatchTools({
      http: openHttpTools(client, headerPrefix(config)),
      mcp: invoker,
      builtIn: builtInTools,
    }),
    listMcpTools: async (serverUrl, headers) => (await load()).listTools(serverUrl, headers),
    warm: async () => void (await load()),
  };
}

/** The library takes 50 to 80 ms to load: not while the service starts, and not in the middle of a call. */
function lateMcpTools(client: GuardedClient, prefix: HeaderPrefix) {
  let opened: Promise<McpTools> | null = null;
  const load = (): Promise<McpTools> =>
    (opened ??= import("./providers/tools-mcp/tools-mcp.ts").then(({ openMcpTools }) =>
      openMcpTools(client, prefix),
    ));
  const invoker: ToolInvoker = {
    invoke: async (call, signal) => (await load()).invoke(call, signal),
    close: async () => (await opened)?.close(),
  };
  return { load, invoker };
}

/** For the REST interface: runs an http tool once, outside of any call. */
export function openToolTester(config: Pick<Config, "allowPrivateTargets" | "apiNames">): TestTool {
  const client = openGuardedClient({ allowed: config.allowPrivateTargets });
  return createToolTester(client, randomUUID, headerPrefix(config));
}

function headerPrefix({ apiNames }: Pick<Config, "apiNames">): HeaderPrefix {
  return apiNames === "vendor" ? "X-Ultravox-" : "X-Service-";
}

/** What the service answers by itself; the other built-in tools are the engine's own. */
export const builtInTools: ToolInvoker = {
  invoke: (call: ToolCall) => Promise.resolve(answerBuiltIn(call)),
  close: () => Promise.resolve(),
};

function answerBuiltIn({ implementation }: ToolCall): ToolAnswer {
  const name = implementation.kind === "builtIn" ? implementation.builtIn : implementation.kind;
  // There are no corpora yet, so whichever is asked for does not exist.
  const reason = name === "queryCorpus" ? "corpus not found" : `no such tool: ${name}`;
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}
