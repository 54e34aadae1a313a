/**
 * A fake OpenAI-compatible model server on this machine: it talks in calls, writes their summaries, and fails on
 * demand.
 */

import type { ServerResponse } from "node:http";
import { openLocalServer, type LocalServer } from "./local-server.ts";

/**
 * How a request fails instead of being answered. `malformed`: no completion; `cut`: it begins and breaks off;
 * `endless`: it goes on until the client disconnects; `hang`: no answer.
 */
export type ModelFault = "500" | "malformed" | "cut" | "endless" | "hang";

export interface ModelServer {
  /** For LLM_BASE_URL. */
  readonly baseUrl: string;
  /** The transcript in each request for a summary, in order. */
  readonly transcripts: readonly string[];
  /** The summary text for a call. */
  summaryOf: (transcript: string) => string;
  /** Called before each request for a summary is answered. */
  fault: (transcript: string) => ModelFault | null | Promise<ModelFault | null>;
  close(): Promise<void>;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const HEAD = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: "m" };
/** The pause lets an endless answer be read as it comes, so that it does not fill the memory of either side. */
const ENDLESS_EVERY_MS = 5;
/** Long after any reader has disconnected; then even an endless answer ends. */
const ENDLESS_LIMIT_MS = 120_000;

export async function openModelServer(): Promise<ModelServer> {
  const transcripts: string[] = [];
  const model = {
    transcripts,
    summaryOf: () => JSON.stringify({ summary: "A guest asked something.", shortSummary: "A question." }),
    fault: (): ModelFault | null => null,
  } as Pick<ModelServer, "transcripts" | "summaryOf" | "fault">;
  const server: LocalServer = await openLocalServer(async ({ method, body }, response) => {
    if (method === "GET") {
      response.end(JSON.stringify({ data: [{ id: "m" }] }));
      return;
    }
    const { messages } = JSON.parse(body) as { readonly messages: readonly Message[] };
    const [transcript] = messages.flatMap(({ content }) => transcriptIn(content));
    if (transcript === undefined) {
      say(response, "Yes.");
      return;
    }
    transcripts.push(transcript);
    const fault = await model.fault(transcript);
    if (fault === null) say(response, model.summaryOf(transcript));
    else fail(response, fault);
  });
  return Object.assign(model, { baseUrl: server.baseUrl, close: () => server.close() });
}

function transcriptIn(content: unknown): string[] {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const found = /^<transcript>\n([^]*)<\/transcript>$/.exec(text)?.[1];
  return found === undefined ? [] : [found];
}

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

function say(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunk({ content: text })}${chunk({}, "stop")}data: [DONE]\n\n`);
}

function fail(response: ServerResponse, fault: ModelFault): void {
  if (fault === "hang") return;
  if (fault === "500") {
    response.writeHead(500, { "content-type": "application/json" });
    response.end('{"error":{"message":"overloaded"}}');
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (fault === "malformed") response.end('data: {"choices":"none"}\n\ndata: [DONE]\n\n');
  if (fault === "cut") response.write(chunk({ content: '{"summary": "A gu' }), () => response.destroy());
  if (fault === "endless") goOn(response);
}

function goOn(response: ServerResponse): void {
  const timer = setInterval(() => response.write(chunk({ content: "and so on " })), ENDLESS_EVERY_MS);
  const limit = setTimeout(() => response.destroy(), ENDLESS_LIMIT_MS);
  response.once("close", () => {
    clearInterval(timer);
    clearTimeout(limit);
  });
}
