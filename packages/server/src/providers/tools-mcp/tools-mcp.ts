/** Tools of MCP servers: what a server offers, and running one of them, once. */

import { CallToolResultSchema, ListToolsResultSchema, type Tool } from "@modelcontextprotocol/sdk/types.js";
import { RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolAnswer, ToolInvoker } from "../../ports/tool-invoker.ts";
import { cutChars } from "../tool-text.ts";
import { McpConnections, reasonOf } from "./mcp-connection.ts";
import { mcpAnswer, mcpFailure } from "./mcp-result.ts";

export interface McpTool {
  /** By which the server knows it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpTools extends ToolInvoker {
  /** Rejects with a short reason that ends a sentence. */
  listTools(
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<readonly McpTool[]>;
}

/** For listing: it happens while somebody waits for a call to be created. */
const LIST_TIMEOUT_MS = 10_000;
/** Pages of a list; servers give 50 to 100 tools a page, most of them all at once. */
const MAX_PAGES = 16;
/** As many as a call may have. */
const MAX_TOOLS = 128;
const MAX_NAME_CHARS = 128;
/** Of a schema as JSON; as much as is compiled of any schema. */
const MAX_SCHEMA_CHARS = 65_536;
/** As long as a description of a stored tool. */
const MAX_DESCRIPTION_CHARS = 16_384;
/** Room for 128 tools with schemas of ordinary size, on one page. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** The answer of one invocation; the model sees 64 KiB of it. */
const MAX_ANSWER_BYTES = 1_048_576;

/** @param prefix of the header that names the invocation */
export function openMcpTools(
  client: GuardedClient,
  prefix: "X-Service-" | "X-Ultravox-" = "X-Service-",
): McpTools {
  const connections = new McpConnections(client);
  return {
    async listTools(url, headers, signal = new AbortController().signal) {
      const limits = { timeoutMs: LIST_TIMEOUT_MS, maxAnswerBytes: MAX_LIST_BYTES };
      try {
        return await listAll(connections, { url, headers }, limits, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof UnusableList ? error : new Error(reasonOf(error), { cause: error });
      }
    },
    async invoke(call, signal) {
      const { implementation } = call;
      if (implementation.kind !== "mcp") throw new Error("not a tool of an MCP server");
      const { serverUrl: url, headers, toolName: name } = implementation;
      const secrets = Object.values(headers).flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]);
      const server = { url, headers: { ...headers, [`${prefix}Invocation-Id`]: call.invocationId } };
      const limits = { timeoutMs: call.timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES };
      const given = Object.fromEntries(call.values.map(({ name: key, value }) => [key, value]));
      try {
        const result = await connections.exchange(server, limits, signal, (mcp, options) =>
          mcp.request(
            { method: "tools/call", params: { name, arguments: given } },
            CallToolResultSchema,
            options,
          ),
        );
        return mcpAnswer(result, secrets);
      } catch (error) {
        // The invoker's own close ends it as an abort does.
        if (isAbort(error)) throw error;
        signal.throwIfAborted();
        return failureOf(error, secrets);
      }
    },
    close: () => connections.close(),
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function failureOf(error: unknown, secrets: readonly string[]): ToolAnswer {
  const cause = error instanceof RequestTimedOut ? "timeout" : "error";
  const message = error instanceof Error ? error.message : String(error);
  const details = error instanceof TargetRefused ? `${message}: ${REFUSAL_ADVICE}` : message;
  return mcpFailure(cause, reasonOf(error), details, secrets);
}

/** The server answers, but what it offers cannot be taken. */
class UnusableList extends Error {
  override readonly name = "UnusableList";
}

function listAll(
  connections: McpConnections,
  server: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  limits: { readonly timeoutMs: number; readonly maxAnswerBytes: number },
  signal: AbortSignal,
): Promise<readonly McpTool[]> {
  return connections.exchange(server, limits, signal, async (client, options) => {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      // Not the library's `listTools`, which would compile every schema that the server tells.
      const list = await client.request({ method: "tools/list", params }, ListToolsResultSchema, options);
      tools.push(...list.tools.map(offered));
      if (tools.length > MAX_TOOLS) throw new UnusableList(`it offers more than ${String(MAX_TOOLS)} tools`);
      cursor = list.nextCursor;
      if (cursor === undefined) return tools;
    }
    throw new UnusableList(`its list of tools has more than ${String(MAX_PAGES)} pages`);
  });
}

function offered({ name, description = "", inputSchema }: Tool): McpTool {
  if (name === "" || name.length > MAX_NAME_CHARS)
    throw new UnusableList("a name of its tools is too long or empty");
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS) {
    throw new UnusableList(
      `the schema of its tool ${name} is longer than ${String(MAX_SCHEMA_CHARS)} characters`,
    );
  }
  return { name, description: cutChars(description, MAX_DESCRIPTION_CHARS), inputSchema };
}
