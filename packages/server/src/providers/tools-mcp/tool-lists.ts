/** A cache of the tool lists of MCP servers, so that a slow server delays the creation of a call only once. */

import { inTime } from "../../pacing/in-time.ts";
import type { McpTool } from "./tools-mcp.ts";

export type ListTools = (
  serverUrl: string,
  headers: Readonly<Record<string, string>>,
) => Promise<readonly McpTool[]>;

/** A list of this age is used without asking the server again. */
export const FRESH_MS = 30_000;
/** A list up to this age is used where the server does not answer in time. */
export const USABLE_MS = 600_000;
/** How long the creation of a call waits. The request goes on, and its answer serves the next call. */
export const WAIT_MS = 2_000;
/** Lists, and their size as JSON. A server has few tools in most cases, and at most 1 MiB of them. */
const MAX_LISTS = 256;
const MAX_CHARS = 16_777_216;
/** Requests to servers that are running. */
const MAX_REQUESTS = 64;

interface Kept {
  readonly tools: readonly McpTool[];
  readonly atMs: number;
  readonly chars: number;
}

export class ToolLists {
  readonly #list: ListTools;
  readonly #nowMs: () => number;
  /** In the order of their last request. */
  readonly #kept = new Map<string, Kept>();
  readonly #requests = new Map<string, Promise<readonly McpTool[]>>();
  #chars = 0;

  /** @param nowMs monotonic */
  constructor(list: ListTools, nowMs: () => number) {
    this.#list = list;
    this.#nowMs = nowMs;
  }

  /** Rejects with a short reason for the end of a sentence. */
  readonly get: ListTools = async (serverUrl, headers) => {
    const key = JSON.stringify([serverUrl, Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const kept = this.#kept.get(key);
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : this.#nowMs() - kept.atMs;
    if (kept !== undefined && ageMs < FRESH_MS) return kept.tools;
    const answer = await inTime(this.#request(key, serverUrl, headers), WAIT_MS);
    if (answer !== null) return answer;
    if (kept !== undefined && ageMs < USABLE_MS) return kept.tools;
    throw new Error(`it did not list its tools within ${String(WAIT_MS / 1_000)} s`);
  };

  #request(
    key: string,
    serverUrl: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<readonly McpTool[]> {
    const running = this.#requests.get(key);
    if (running !== undefined) return running;
    if (this.#requests.size >= MAX_REQUESTS) {
      return Promise.reject(new Error("too many other servers have not answered yet"));
    }
    const request = this.#list(serverUrl, headers)
      .then((tools) => {
        this.#keep(key, tools);
        return tools;
      })
      .finally(() => this.#requests.delete(key));
    this.#requests.set(key, request);
    // Who waited has the timeout already.
    request.catch(() => undefined);
    return request;
  }

  #keep(key: string, tools: readonly McpTool[]): void {
    const chars = JSON.stringify(tools).length;
    this.#forget(key);
    this.#kept.set(key, { tools, atMs: this.#nowMs(), chars });
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_LISTS && this.#chars <= MAX_CHARS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0;
    this.#kept.delete(key);
  }
}
