/** Tools of MCP servers: what a server offers, and running one of them, once. */

import { CallToolResultSchema, ListToolsResultSchema, type Tool } from "@modelcontextprotocol/sdk/types.js";
import { AnswerTooLarge, RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolAnswer, ToolInvoker } from "../../ports/tool-invoker.ts";
import { cutChars, mayHoldSecret, namesSecret, sentForms, withoutScheme } from "../tool-text.ts";
import { reasonOf } from "./mcp-client.ts";
import { KEPT_IDLE_MS, McpConnections, type ExchangeLimits } from "./mcp-connection.ts";
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
/** Of all pages together: 128 tools of 8 KiB. Each reply's request carries the tools, and no model's window holds more. */
const MAX_LIST_BYTES = 1_048_576;
/** The answer of one invocation; the model sees 64 KiB of it. */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * A call's connection to a server stays open for its next invocation there.
 * @param prefix of the header that names the invocation
 * @param idleMs after which a connection that nobody uses is left
 */
export function openMcpTools(
  client: GuardedClient,
  prefix: "X-Service-" | "X-Ultravox-" = "X-Service-",
  idleMs = KEPT_IDLE_MS,
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
        const result = await connections.keptExchange(server, limits, signal, own, (mcp, options) =>
          mcp.request(
            { method: "tools/call", params: { name, arguments: given } },
            CallToolResultSchema,
            options,
          ),
        );
        return mcpAnswer(result, secrets, secretsOf(headers, namesSecret));
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
  limits: ExchangeLimits,
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
