/**
 * Amazon Bedrock's ConverseStream, whose answers are binary messages (`application/vnd.amazon.eventstream`):
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */

import { crc32 } from "node:zlib";
import { z } from "zod";
import { Refusal, Request, STREAM_EVENTS } from "../contracts/bedrock-converse-stream.ts";
import { headProblem, KEY, type Documented, type VendorWire } from "./vendor-wire.ts";

export const BEDROCK_MODEL = "eu.anthropic.claude-sonnet-4-20250514-v1:0";

export const bedrockWire: VendorWire = {
  contentType: "application/vnd.amazon.eventstream",
  problemOf(request) {
    const path = `/model/${encodeURIComponent(BEDROCK_MODEL)}/converse-stream`;
    const head = headProblem(request, { path, header: "authorization", value: `Bearer ${KEY}` });
    if (head !== null) return head.status === 401 ? { ...head, status: 403 } : head;
    const body = Request.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data);
    return message === null ? null : { status: 400, message };
  },
  asked(body) {
    const content = Request.parse(body).messages.at(-1)?.content ?? [];
    return JSON.stringify(content.filter((block) => !("cachePoint" in block)));
  },
  encode({ texts, toolCalls = [], inputTokens, cachedTokens = 0, outputTokens }) {
    const usage = {
      inputTokens: inputTokens - cachedTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      cacheReadInputTokens: cachedTokens,
      cacheWriteInputTokens: 0,
    };
    const first = texts.length === 0 ? 0 : 1;
    return [
      framed("messageStart", { role: "assistant" }),
      ...texts.map((text) => framed("contentBlockDelta", { contentBlockIndex: 0, delta: { text } })),
      ...(first === 0 ? [] : [framed("contentBlockStop", { contentBlockIndex: 0 })]),
      ...toolCalls.flatMap(({ id, name, arguments: input }, index) => {
        const contentBlockIndex = first + index;
        return [
          framed("contentBlockStart", {
            contentBlockIndex,
            start: { toolUse: { toolUseId: id, name } },
          }),
          framed("contentBlockDelta", {
            contentBlockIndex,
            delta: { toolUse: { input: JSON.stringify(input) } },
          }),
          framed("contentBlockStop", { contentBlockIndex }),
        ];
      }),
      framed("messageStop", { stopReason: toolCalls.length === 0 ? "end_turn" : "tool_use" }),
      framed("metadata", { usage, metrics: { latencyMs: 100 } }),
    ];
  },
  documents: (unit) => [unframed(Buffer.from(unit))],
  refusal: ({ message: text }) => JSON.stringify(Refusal.parse({ message: text })),
};

/** Total length, length of the headers, their checksum, headers, payload, checksum of all: big endian. */
function framed(event: keyof typeof STREAM_EVENTS, payload: object): Uint8Array {
  const headers = Buffer.concat([
    header(":event-type", event),
    header(":content-type", "application/json"),
    header(":message-type", "event"),
  ]);
  const data = Buffer.from(JSON.stringify(STREAM_EVENTS[event].parse(payload)));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + data.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const body = Buffer.concat([prelude, checksum(prelude), headers, data]);
  return Buffer.concat([body, checksum(body)]);
}

function unframed(message: Buffer): Documented {
  const headerBytes = message.readUInt32BE(4);
  const payload: unknown = JSON.parse(message.toString("utf8", 12 + headerBytes, message.length - 4));
  const events = Object.entries(STREAM_EVENTS);
  const headers = message.toString("latin1", 12, 12 + headerBytes);
  const found = events.find(([name]) =>
    headers.includes(`:event-type\u0007\u0000${String.fromCharCode(name.length)}${name}`),
  );
  if (found === undefined) throw new Error("the message has no known event");
  return { schema: found[1], document: payload };
}

/** A string: its type is 7, and its length has two bytes. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.of(Buffer.byteLength(name)),
    Buffer.from(name),
    Buffer.of(7),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

function orderProblem({ messages }: Request): string | null {
  if (messages[0]?.role !== "user") return "A conversation must start with a user message.";
  if (messages.at(-1)?.role !== "user") return "The conversation must end with a user message.";
  for (const [index, { role, content }] of messages.entries()) {
    if (messages[index + 1]?.role === role) return "Roles must alternate between user and assistant.";
    const uses = content.flatMap((block) => ("toolUse" in block ? [block.toolUse.toolUseId] : []));
    const results = (messages[index + 1]?.content ?? []).flatMap((block) =>
      "toolResult" in block ? [block.toolResult.toolUseId] : [],
    );
    if (uses.toSorted().join() !== results.toSorted().join())
      return "Expected toolResult blocks for each toolUse.";
  }
  return null;
}
