/** Tools of MCP servers: lists them and runs one of them, once. */

import { CallToolResultSchema, ListToolsResultSchema, type Tool } from "@modelcontextprotocol/sdk/types.js";
import type { HeaderPrefix, ToolOutcome } from "@parley/schema";
import { AnswerTooLarge, RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import { cutChars, mayHoldSecret, namesSecret, sentForms, withoutScheme } from "../tool-text.ts";
import { reasonOf } from "./mcp-client.ts";
import { POOLED_IDLE_MS, McpConnections, type ExchangeLimits } from "./mcp-connection.ts";
import { mcpAnswer, mcpFailure } from "./mcp-result.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface McpTool {
  /** The name that the server uses. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpTools extends ToolInvoker {
  /** Rejects with a short reason for the end of a sentence. */
  listTools(
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<readonly McpTool[]>;
}

/** Limit of listing, for which a client waits when it creates a call. */
const LIST_TIMEOUT_MS = 10_000;
/** Limit of pages of a list; servers return 50 to 100 tools a page, most of them all at once. */
const MAX_PAGES = 16;
/** Limit of tools: that of a call. */
const MAX_TOOLS = 128;
const MAX_NAME_CHARS = 128;
/** Limit of a schema as JSON: that of any schema. */
const MAX_SCHEMA_CHARS = 65_536;
/** Limit of a description: that of a stored tool. */
const MAX_DESCRIPTION_CHARS = 16_384;
/**
 * Limit of all pages together: 128 tools of 8 KiB. Every request to the model contains the tools, and no model's window
 * is larger.
 */
const MAX_LIST_BYTES = 1_048_576;
/** Limit of the answer of one invocation; the model sees 64 KiB of it. */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * A call's connection to a server stays open for its next invocation there.
 * @param prefix of the header that names the invocation
 * @param idleMs after which an unused connection is closed
 */
export function openMcpTools(
  client: GuardedClient,
  prefix: HeaderPrefix = "X-Service-",
  idleMs = POOLED_IDLE_MS,
): McpTools {
  const connections = new McpConnections(client, idleMs);
  return {
    async listTools(url, headers, signal = new AbortController().signal) {
      const limits = { timeoutMs: LIST_TIMEOUT_MS, maxBytes: MAX_LIST_BYTES };
      try {
        return await listAll(connections, { url, headers }, limits, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AnswerTooLarge) {
          throw new UnusableList(`its list of tools is longer than ${String(MAX_LIST_BYTES)} bytes`);
        }
        throw error instanceof UnusableList ? error : new Error(reasonOf(error), { cause: error });
      }
    },
    async invoke(call, signal) {
      const { implementation } = call;
      if (implementation.kind !== "mcp") throw new Error("not a tool of an MCP server");
      const { serverUrl: url, headers, toolName: name } = implementation;
      const secrets = secretsOf(headers, mayHoldSecret);
      const server = { url, headers };
      const limits = { timeoutMs: call.timeoutMs, maxBytes: MAX_ANSWER_BYTES };
      const own = { owner: call.callId, headers: { [`${prefix}Invocation-Id`]: call.invocationId } };
      const given = Object.fromEntries(call.values.map(({ name: key, value }) => [key, value]));
      try {
        const result = await connections.pooledExchange(server, limits, signal, own, (mcp, options) =>
          mcp.request(
            { method: "tools/call", params: { name, arguments: given } },
            CallToolResultSchema,
            options,
          ),
        );
        return mcpAnswer(result, secrets, secretsOf(headers, namesSecret));
      } catch (error) {
        // Closing the invoker cancels it as an abort does.
        if (isAbort(error)) throw error;
        signal.throwIfAborted();
        return failureOf(error, secrets);
      }
    },
    close: () => connections.close(),
  };
}

function secretsOf(
  headers: Readonly<Record<string, string>>,
  isSecret: (header: string) => boolean,
): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isSecret(name) ? [value] : []));
  return sentForms(values.filter((value) => value.isWellFormed()).flatMap(withoutScheme));
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function failureOf(error: unknown, secrets: readonly string[]): ToolOutcome {
  const cause = error instanceof RequestTimedOut ? "timeout" : "error";
  const message = messageOf(error);
  const details = error instanceof TargetRefused ? `${message}: ${REFUSAL_ADVICE}` : message;
  return mcpFailure(cause, reasonOf(error), details, secrets);
}

/** The server responds, but its list of tools cannot be used. */
class UnusableList extends Error {
  override readonly name = "UnusableList";
}

function listAll(
  connections: McpConnections,
  server: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<readonly McpTool[]> {
  return connections.exchange(server, limits, signal, async (client, options) => {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      // Not the library's `listTools`, which would compile every schema that the server lists.
      const list = await client.request({ method: "tools/list", params }, ListToolsResultSchema, options);
      tools.push(...list.tools.map(offered));
      if (tools.length > MAX_TOOLS) throw new UnusableList(`it has more than ${String(MAX_TOOLS)} tools`);
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
