import { afterEach, describe, expect, it } from "vitest";
import type { LlmMessage, LlmTool } from "@parley/schema";
import { wavHeader } from "../../media/wav.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import type { LocalHandler } from "../../ports/testing/local-server.ts";
import type { LlmRequest } from "../../ports/llm.ts";
import { openSubject, SUBJECTS, type OpenedSubject, type Subject } from "./testing/subjects.ts";
import { KEY, serveVendor, type WireAnswer, type WireFault } from "./testing/vendor-wire.ts";
import type { VendorTarget } from "./vendor-target.ts";

const opened: OpenedSubject[] = [];
afterEach(async () => {
  for (const { engine, server } of opened.splice(0)) {
    await engine.close();
    await server.close();
  }
});

async function open(
  subject: Subject,
  handler: LocalHandler,
  fields: Partial<VendorTarget> = {},
): Promise<OpenedSubject> {
  const found = await openSubject(subject, handler, fields);
  opened.push(found);
  return found;
}

/** Says back what was asked, a word at a time. */
const echo = (asked: string): WireAnswer => ({
  texts: `You said: ${asked}.`.split(/(?<= )/),
  inputTokens: 50,
  outputTokens: 9,
});
const say =
  (fields: Partial<WireAnswer> = {}) =>
  (): WireAnswer => ({
    texts: ["We open ", "at nine, señor. 😀"],
    inputTokens: 50,
    outputTokens: 9,
    ...fields,
  });

const tools: LlmTool[] = [
  {
    name: "lookup",
    description: "Looks up.",
    parameters: { type: "object", properties: { q: { type: "string" } } },
  },
];
const user = (text: string): LlmMessage => ({ role: "user", text });
const agent = (text: string): LlmMessage => ({ role: "agent", text });
const called = (id: string): LlmMessage[] => [
  { role: "agent", text: "", toolCalls: [{ id, name: "lookup", arguments: { q: id } }] },
  { role: "tool", invocationId: id, toolName: "lookup", text: "nine" },
];
const hello = llmRequest({ systemPrompt: "You are Ada.", messages: [user("Hello there")], tools });

describe.each(SUBJECTS)("$vendor", (subject) => {
  const { wire, title, vendor, model } = subject;
  const served = (answer: (asked: string) => WireAnswer, fault: WireFault | null = null) =>
    open(subject, serveVendor(wire, answer, fault));

  describeLlmConformance(`a model of ${title}`, {
    open: async () => (await served(echo)).engine,
    requests: [hello, llmRequest({ messages: [user("one two three")] }), llmRequest({ messages: [] })],
    openHanging: async () => {
      const { engine, server } = await served(echo, { kind: "hangsMidway" });
      return { engine, reached: server.requested() };
    },
    openFailing: async () => (await served(echo, { kind: "drops" })).engine,
  });

  it("streams text, and counts tokens with those of the cache", async () => {
    const { engine } = await served(say({ cachedTokens: 30 }));
    const { parts, error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toBeNull();
    expect(textOf(parts)).toBe("We open at nine, señor. 😀");
    expect(parts.at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      inputTokens: 50,
      outputTokens: 9,
      cachedInputTokens: 30,
    });
  });

  it("reads an answer that comes a few bytes at a time", async () => {
    const { engine } = await served(say(), { kind: "slow" });
    const { parts, error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toBeNull();
    expect(textOf(parts)).toBe("We open at nine, señor. 😀");
  });

  it("passes calls of tools on", async () => {
    const calls = [
      { id: "call00001", name: "lookup", arguments: { q: "hours" } },
      { id: "call00002", name: "lookup", arguments: {} },
    ];
    const { engine } = await served(say({ texts: ["One moment."], toolCalls: calls }));
    const { parts, error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toBeNull();
    const got = parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
    expect(got.map(({ name, arguments: given }) => [name, given])).toEqual([
      ["lookup", { q: "hours" }],
      ["lookup", {}],
    ]);
    expect(new Set(got.map(({ id }) => id)).size).toBe(2);
    // Arguments that are still being written are a sign of life.
    const begun = parts.findIndex(({ type }) => type === "tool-call-delta");
    expect(begun).toBeGreaterThan(0);
    expect(begun).toBeLessThan(parts.findIndex(({ type }) => type === "tool-call"));
    expect(parts.at(-1)).toMatchObject({ reason: "tool-calls" });
  });

  const histories: [string, LlmMessage[]][] = [
    ["a call that the agent begins", [agent("Hello."), user("When?")]],
    ["no message", []],
    ["only words of the agent", [agent("Hello."), agent("Are you there?")]],
    ["words before a call of a tool", [user("When?"), agent("One moment."), ...called("c1")]],
    ["a result that the user has interrupted", [user("When?"), ...called("c1"), user("Wait!")]],
    [
      "two rounds",
      [agent("Hi."), user("When?"), ...called("c1"), ...called("c2"), agent("At 9."), user("So?")],
    ],
    ["two messages of the user", [user("When"), user("do you open?")]],
    ["a result without its call", [user("When?"), ...called("c1").slice(1)]],
  ];
  it.each(histories)("takes a history with %s", async (_name, messages) => {
    const { engine } = await served(say());
    const request = { ...hello, messages, instruction: "Be short.", language: "de" };
    const { parts, error } = await collect(engine.generate(request, neverAborted()));
    expect(error).toBeNull();
    expect(textOf(parts)).toContain("We open");
  });

  it("sends the same prefix in the next request", async () => {
    const { engine, server } = await served(say());
    const messages = [agent("Hello."), user("When?"), ...called("c1"), agent("Nine."), user("And tomorrow?")];
    for (const count of [2, 4, 6])
      await collect(engine.generate({ ...hello, messages: messages.slice(0, count) }, neverAborted()));
    const bodies = server.requests.map(({ body }) => unmarked(JSON.parse(body)));
    expect(bodies).toHaveLength(3);
    for (const [index, body] of bodies.slice(1).entries()) {
      const before = bodies[index];
      expect(JSON.stringify(body.rest)).toBe(JSON.stringify(before?.rest));
      const own = before?.turns ?? [];
      expect(own.length).toBeLessThan(body.turns.length);
      expect(JSON.stringify(body.turns.slice(0, own.length))).toBe(JSON.stringify(own));
    }
  });

  const faults: [string, WireFault, RegExp, boolean][] = [
    ["401", { kind: "status", status: 401 }, /answered HTTP 401: the fake fails$/, true],
    ["403", { kind: "status", status: 403 }, /answered HTTP 403: the fake fails$/, true],
    ["404", { kind: "status", status: 404 }, /answered HTTP 404: the fake fails$/, true],
    ["429", { kind: "status", status: 429 }, /answered HTTP 429: the fake fails$/, false],
    ["500", { kind: "status", status: 500 }, /answered HTTP 500: the fake fails$/, false],
    ["529", { kind: "status", status: 529 }, /answered HTTP 529: the fake fails$/, false],
    ["garbage", { kind: "garbage" }, /./, false],
    ["a connection broken off", { kind: "drops" }, /closed the connection early$/, false],
    ["an end in the middle", { kind: "endsEarly" }, /./, false],
  ];
  it.each(faults)("fails at %s, asks once, and shows neither key nor words", async (...row) => {
    const [, fault, message, isPermanent] = row;
    const { engine, server } = await served(say(), fault);
    const { parts, error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent });
    expect(error?.message).toMatch(message);
    expect(error?.message.startsWith(`${title} `)).toBe(true);
    expect(error?.message).not.toMatch(/secret-key|Hello there|oops|Ada/);
    expect(error?.cause).toBeUndefined();
    expect(parts.some((part) => part.type === "finish")).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it("calls a wrong key permanent", async () => {
    const { engine } = await open(subject, serveVendor(wire, say()), { apiKey: "secret-key-2" });
    const { error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toMatchObject({ isPermanent: true });
    expect(error?.message).toContain("the key is wrong");
  });

  it.each(["hangs", "hangsMidway"] as const)("hangs up when an answer that %s is aborted", async (kind) => {
    const { engine, server } = await served(say(), { kind });
    const abort = new AbortController();
    const [reached, hungUp] = [server.requested(), server.hungUp()];
    const reading = collect(engine.generate(hello, abort.signal));
    await reached;
    abort.abort();
    expect((await reading).error?.name).toBe("AbortError");
    await hungUp;
  });

  it("sends its key to no other address", async () => {
    const other = await open(subject, serveVendor(wire, say()));
    const { engine } = await open(subject, ({ path }, response) => {
      response.writeHead(307, { location: `${new URL(other.server.baseUrl).origin}${path}` });
      response.end();
    });
    const { error } = await collect(engine.generate(hello, neverAborted()));
    expect(error?.message).toBe(`${title} answered with a redirect, which is not followed`);
    expect(other.server.requests).toEqual([]);
  });

  it("has the name that aliases use, and says where it is", async () => {
    const { engine, server } = await served(say());
    expect(engine).toMatchObject({ name: vendor, model, models: [`${vendor}:${model}`] });
    expect(engine.server?.port).toBe(Number(new URL(server.baseUrl).port));
  });
});

const FIELDS = ["messages", "contents"];

/** Turns and everything else of a request, without marks of caches, which are no part of the text. */
function unmarked(body: unknown): { readonly turns: readonly unknown[]; readonly rest: unknown } {
  const clean = JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (key === "cache_control") return undefined;
      return Array.isArray(value) ? value.filter((entry) => !isCachePoint(entry)) : value;
    }),
  ) as Record<string, unknown>;
  const turns = FIELDS.flatMap((field) => (clean[field] as unknown[] | undefined) ?? []);
  const rest = Object.fromEntries(Object.entries(clean).filter(([name]) => !FIELDS.includes(name)));
  return { turns, rest };
}

function isCachePoint(value: unknown): boolean {
  return typeof value === "object" && value !== null && "cachePoint" in value;
}

describe("the voice of the caller", () => {
  const wav = new Uint8Array([
    ...wavHeader({ sampleRateHz: 16_000, channels: 1 }, 4),
    ...Uint8Array.of(1, 0, 2, 0),
  ]);
  const request: LlmRequest = {
    ...hello,
    messages: [user("Hello"), agent("Hi."), user("Wenn do you open?")],
    audio: [{ messageIndex: 2, wav }],
  };

  const hearing = SUBJECTS.filter(({ takesAudio }) => takesAudio);
  it.each(hearing)("replaces its text for $vendor", async (subject) => {
    const { engine, server } = await open(subject, serveVendor(subject.wire, say()));
    expect(engine.takesAudio?.("default")).toBe(true);
    const { error } = await collect(engine.generate(request, neverAborted()));
    expect(error).toBeNull();
    const [sent] = server.requests;
    expect(sent?.body).toContain(Buffer.from(wav).toString("base64"));
    expect(sent?.body).toContain("Hello");
    expect(sent?.body).not.toContain("Wenn");
  });
});

describe("Amazon Bedrock with keys of AWS", () => {
  it("signs its requests, and shows no key", async () => {
    const bedrock = SUBJECTS.find(({ vendor }) => vendor === "bedrock");
    if (bedrock === undefined) throw new Error("there is no Bedrock");
    const aws = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: KEY, sessionToken: null };
    const { engine, server } = await open(bedrock, serveVendor(bedrock.wire, say()), { aws, apiKey: null });
    const { error } = await collect(engine.generate(hello, neverAborted()));
    const signature = String(server.requests[0]?.headers.authorization);
    expect(signature).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request,/,
    );
    expect(signature).not.toContain(KEY);
    expect(error?.message).toContain("the key is wrong");
  });
});
