/** Chooses the invoker of each kind of tool. */

import { randomUUID } from "node:crypto";
import { headerPrefix, type ApiNames, type HeaderPrefix, type ToolOutcome } from "@parley/schema";
import { CONSULTATION_TOOLS } from "../plan/tool-plan.ts";
import type { GuardedClient } from "../net/guarded-fetch.ts";
import type { RunToolTest } from "../ports/tool-test.ts";
import type { ToolInvoker, ToolTarget } from "../ports/tool-invoker.ts";
import { createToolTester } from "../providers/tools-http/tool-tester.ts";
import { openHttpTools } from "../providers/tools-http/tools-http.ts";
import { ToolLists } from "../providers/tools-mcp/tool-lists.ts";
import type { McpTool, McpTools } from "../providers/tools-mcp/tools-mcp.ts";
import { openTransferTools, type TransferTools } from "./telephony/transfer-tools.ts";

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
  /** From now on calls over SIP can be transferred. */
  readonly serveSip: TransferTools["serveSip"];
}

/** Tools that the service answers by itself. */
export interface OwnTools {
  /** Those that transfer calls of carriers. */
  readonly transfer: ToolInvoker["invoke"];
  readonly queryCorpus: ToolInvoker["invoke"];
}

/** All tools of this deployment. */
export function openToolInvoker(client: GuardedClient, apiNames: ApiNames, own: OwnTools): DeploymentTools {
  const prefix = headerPrefix(apiNames);
  const { load, invoker } = lateMcpTools(client, prefix);
  const transfers = openTransferTools(own.transfer);
  const lists = new ToolLists(
    async (serverUrl, headers) => (await load()).listTools(serverUrl, headers),
    () => performance.now(),
  );
  return {
    ...dispatchTools({
      http: openHttpTools(client, prefix),
      mcp: invoker,
      builtIn: builtInTools({ ...own, transfer: transfers.invoke }),
    }),
    listMcpTools: lists.get,
    warm: async () => void (await load()),
    serveSip: transfers.serveSip,
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

/** The other built-in tools are the engine's own. */
export function builtInTools({ transfer, queryCorpus }: OwnTools): ToolInvoker {
  return {
    invoke(call, signal) {
      const { implementation } = call;
      const name = implementation.kind === "builtIn" ? implementation.builtIn : implementation.kind;
      if (TRANSFERS.has(name)) return transfer(call, signal);
      if (name === "queryCorpus") return queryCorpus(call, signal);
      return Promise.resolve(unknownTool(name));
    },
    close: () => Promise.resolve(),
  };
}

const TRANSFERS: ReadonlySet<string> = new Set(["coldTransfer", "warmTransfer", ...CONSULTATION_TOOLS]);

function unknownTool(name: string): ToolOutcome {
  const reason = `no such tool: ${name}`;
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails: reason };
}
