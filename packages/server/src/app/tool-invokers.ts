/** Chooses the invoker of each kind of tool. */

import { randomUUID } from "node:crypto";
import { headerPrefix, type ApiNames, type HeaderPrefix, type ToolOutcome } from "@parley/schema";
import type { GuardedClient } from "../net/guarded-fetch.ts";
import type { RunToolTest } from "../ports/tool-test.ts";
import type { ToolInvocation, ToolInvoker, ToolTarget } from "../ports/tool-invoker.ts";
import { createToolTester } from "../providers/tools-http/tool-tester.ts";
import { openHttpTools } from "../providers/tools-http/tools-http.ts";
import { ToolLists } from "../providers/tools-mcp/tool-lists.ts";
import type { McpTool, McpTools } from "../providers/tools-mcp/tools-mcp.ts";

export type Invokers = Readonly<Record<ToolTarget["kind"], ToolInvoker>>;

/** Closes the invokers. */
export function dispatchTools(invokers: Invokers): ToolInvoker {
  return {
    invoke: (call, signal) => invokers[call.implementation.kind].invoke(call, signal),
    async close() {
      await Promise.all(Object.values(invokers).map((invoker) => invoker.close()));
    },
  };
}

export interface DeploymentTools extends ToolInvoker {
  /** The tools of an MCP server; rejects with a short reason. */
  readonly listMcpTools: (
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<readonly McpTool[]>;
  /** Preloads what only some calls need, so that the first of them does not wait for it. */
  readonly warm: () => Promise<void>;
}

/** All tools of this deployment. `transfer`: the tools that transfer calls. */
export function openToolInvoker(
  client: GuardedClient,
  apiNames: ApiNames,
  transfer: ToolInvoker["invoke"],
): DeploymentTools {
  const prefix = headerPrefix(apiNames);
  const { load, invoker } = lateMcpTools(client, prefix);
  const lists = new ToolLists(
    async (serverUrl, headers) => (await load()).listTools(serverUrl, headers),
    () => performance.now(),
  );
  return {
    ...dispatchTools({
      http: openHttpTools(client, prefix),
      mcp: invoker,
      builtIn: builtInTools(transfer),
    }),
    listMcpTools: lists.get,
    warm: async () => void (await load()),
  };
}

/** The library takes 50 to 80 ms to load: not during the start of the service, and not in the middle of a call. */
function lateMcpTools(client: GuardedClient, prefix: HeaderPrefix) {
  let opened: Promise<McpTools> | null = null;
  const load = (): Promise<McpTools> =>
    (opened ??= import("../providers/tools-mcp/tools-mcp.ts").then(({ openMcpTools }) =>
      openMcpTools(client, prefix),
    ));
  const invoker: ToolInvoker = {
    invoke: async (call, signal) => (await load()).invoke(call, signal),
    close: async () => (await opened)?.close(),
  };
  return { load, invoker };
}

/** For the REST interface: runs an http tool once, outside of any call. */
export function openToolTester(client: GuardedClient, apiNames: ApiNames): RunToolTest {
  return createToolTester(client, randomUUID, headerPrefix(apiNames));
}

/** Tools that the service answers by itself; the other built-in tools are the engine's own. */
export function builtInTools(transfer: ToolInvoker["invoke"]): ToolInvoker {
  return {
    invoke(call, signal) {
      const { implementation } = call;
      const isTransfer = implementation.kind === "builtIn" && TRANSFERS.has(implementation.builtIn);
      return isTransfer ? transfer(call, signal) : Promise.resolve(answerBuiltIn(call));
    },
    close: () => Promise.resolve(),
  };
}

const TRANSFERS: ReadonlySet<string> = new Set(["coldTransfer", "warmTransfer"]);

function answerBuiltIn({ implementation }: ToolInvocation): ToolOutcome {
  const name = implementation.kind === "builtIn" ? implementation.builtIn : implementation.kind;
  // There are no corpora yet, so no requested one exists.
  const reason = name === "queryCorpus" ? "corpus not found" : `no such tool: ${name}`;
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}
