/**
 * The engines of the conversations, on one server, so that a killed service is soon back on a busy machine. The model
 * answers each turn by its number, and calls the tool in every third turn, so that history and tool effects can be
 * compared with what clients heard. The voice is a tone; the recogniser hears nothing, because clients write.
 */

import type { ServerResponse } from "node:http";
import { openLocalServer } from "../../src/ports/testing/local-server.ts";

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}

export interface CountingEngines {
  /** The settings of a service that uses them. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const TOOL = "count";
/** The tool is called in each third turn. */
const TOOL_EVERY = 3;
const VOICE_RATE_HZ = 24_000;
/** About 15 characters a second. */
const MS_PER_CHARACTER = 65;
const HEAD = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: "crash" };
const TURN = /^This is turn (\d+)\b/;

/** What the client says in a turn. */
export function turnText(turn: number): string {
  return `This is turn ${String(turn)} of the conversation.`;
}

/** The beginning of the answer to it. */
export function answerText(turn: number): string {
  return `Here is the answer to turn ${String(turn)}.`;
}

export async function openCountingEngines(): Promise<CountingEngines> {
  const server = await openLocalServer(({ method, path, body }, response) => {
    if (method === "GET") response.end(JSON.stringify({ data: [{ id: "crash" }] }));
    else if (path.endsWith("/audio/speech"))
      response.end(spoken((JSON.parse(body) as { input: string }).input));
    else if (path.endsWith("/audio/transcriptions")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ text: "" }));
    } else reply(JSON.parse(body) as ReplyRequest, response);
  });
  const { baseUrl } = server;
  const kinds = ["LLM", "STT", "TTS"].map((kind) => ({
    [`${kind}_BASE_URL`]: baseUrl,
    [`${kind}_MODEL`]: "crash",
  }));
  const env = Object.assign({}, ...kinds) as Record<string, string>;
  return { env, close: () => server.close() };
}

/** 16-bit samples at 24 kHz. */
function spoken(text: string): Buffer {
  const samples = Math.round((text.length * MS_PER_CHARACTER * VOICE_RATE_HZ) / 1_000);
  const audio = Buffer.alloc(2 * samples);
  for (let at = 0; at < samples; at += 1) audio.writeInt16LE(Math.round(6_000 * Math.sin(at / 10)), 2 * at);
  return audio;
}

interface ReplyRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly unknown[];
}

function reply({ messages, tools = [] }: ReplyRequest, response: ServerResponse): void {
  const [delta, finish] = answerTo(messages, tools.length > 0);
  const chunk = (part: object, reason: string | null): string =>
    `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta: part, finish_reason: reason }] })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunk(delta, null)}${chunk({}, finish)}data: [DONE]\n\n`);
}

function answerTo(messages: readonly Message[], hasTools: boolean): readonly [object, string] {
  const asked = messages.findLastIndex((message) => turnOf(message) !== null);
  const last = messages[asked];
  const turn = last === undefined ? null : turnOf(last);
  if (turn === null) return [{ content: "What is the number of the turn?" }, "stop"];
  const hasCalled = messages
    .slice(asked)
    .some(({ role, tool_calls }) => role === "tool" || tool_calls !== undefined);
  if (!hasTools || hasCalled || turn % TOOL_EVERY !== 0)
    return [{ content: `${answerText(turn)} I have written it down.` }, "stop"];
  const call = {
    index: 0,
    id: `call_${String(turn)}`,
    type: "function",
    function: { name: TOOL, arguments: JSON.stringify({ turn }) },
  };
  return [{ tool_calls: [call] }, "tool_calls"];
}

function turnOf({ role, content }: Message): number | null {
  if (role !== "user") return null;
  const text = typeof content === "string" ? content : textOfParts(content);
  const found = TURN.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

function textOfParts(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part as { text?: string }).text ?? "").join("");
}
