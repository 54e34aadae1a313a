/**
 * Amazon Bedrock's ConverseStream, whose answers are binary messages (`application/vnd.amazon.eventstream`):
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */

import { crc32 } from "node:zlib";
import { z } from "zod";
import { headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

const CachePoint = z.strictObject({ cachePoint: z.strictObject({ type: z.literal("default") }) });
const Block = z.union([
  z.strictObject({ text: z.string().min(1) }),
  CachePoint,
  z.strictObject({
    toolUse: z.strictObject({
      toolUseId: z.string(),
      name: z.string(),
      input: z.record(z.string(), z.unknown()),
    }),
  }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId: z.string(),
      content: z.array(z.strictObject({ text: z.string() })),
      status: z.enum(["success", "error"]).optional(),
    }),
  }),
]);
const Body = z.strictObject({
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) }))
    .min(1),
  system: z.array(z.union([z.strictObject({ text: z.string().min(1) }), CachePoint])).optional(),
  inferenceConfig: z.strictObject({ temperature: z.number().min(0).max(1).optional() }).optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(
        z.strictObject({
          toolSpec: z.strictObject({
            name: z.string(),
            description: z.string().optional(),
            strict: z.boolean().optional(),
            inputSchema: z.strictObject({ json: z.looseObject({}) }),
          }),
        }),
      ),
      toolChoice: z.looseObject({}).optional(),
    })
    .optional(),
  additionalModelRequestFields: z.looseObject({}).optional(),
  additionalModelResponseFieldPaths: z.array(z.string()).max(10).optional(),
});
type Body = z.output<typeof Body>;

export const BEDROCK_MODEL = "eu.anthropic.claude-sonnet-4-20250514-v1:0";

export const bedrockWire: VendorWire = {
  contentType: "application/vnd.amazon.eventstream",
  problemOf(request) {
    const path = `/model/${encodeURIComponent(BEDROCK_MODEL)}/converse-stream`;
    const head = headProblem(request, { path, header: "authorization", value: `Bearer ${KEY}` });
    if (head !== null) return head.status === 401 ? { ...head, status: 403 } : head;
    const body = Body.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data);
    return message === null ? null : { status: 400, message };
  },
  asked(body) {
    const content = Body.parse(body).messages.at(-1)?.content ?? [];
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
  refusal: ({ message: text }) => JSON.stringify({ message: text }),
};

/** Total length, length of the headers, their checksum, headers, payload, checksum of all: big endian. */
function framed(event: string, payload: object): Uint8Array {
  const headers = Buffer.concat([
    header(":event-type", event),
    header(":content-type", "application/json"),
    header(":message-type", "event"),
  ]);
  const data = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + data.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const body = Buffer.concat([prelude, checksum(prelude), headers, data]);
  return Buffer.concat([body, checksum(body)]);
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

function orderProblem({ messages }: Body): string | null {
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
