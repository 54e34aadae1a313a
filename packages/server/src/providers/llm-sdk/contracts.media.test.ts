/**
 * What the adapters send, and what the fakes answer, against the contract of each vendor: all of it is documented, and
 * each field is noticed when it changes.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wavHeader } from "../../media/wav.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import type { LocalRequest } from "../../ports/testing/local-server.ts";
import { renamedFields } from "../../ports/testing/renamed-fields.ts";
import { openSubject, SUBJECTS, type OpenedSubject } from "./testing/subjects.ts";
import { serveVendor, type WireAnswer } from "./testing/vendor-wire.ts";

/** Their content is the agent's or the caller's: arguments, results and schemas of tools. */
const OPEN = new Set([
  "input",
  "args",
  "response",
  "json",
  "input_schema",
  "parameters",
  "parametersJsonSchema",
]);

const wav = new Uint8Array([...wavHeader({ sampleRateHz: 16_000, channels: 1 }, 2), 1, 0]);

/** With all that a request can have: prompt, instruction, calls of tools, results, audio, tools. */
const whole = llmRequest({
  systemPrompt: "You are Ada.",
  instruction: "Be short.",
  language: "en",
  temperature: 0.5,
  messages: [
    { role: "agent", text: "Hello." },
    { role: "user", text: "When do you open?" },
    {
      role: "agent",
      text: "",
      toolCalls: [{ id: "call_of another:vendor", name: "lookup", arguments: { q: "x" } }],
    },
    { role: "tool", invocationId: "call_of another:vendor", toolName: "lookup", text: "nine" },
    { role: "agent", text: "At nine." },
    { role: "user", text: "And when do you close?" },
  ],
  tools: [
    {
      name: "lookup",
      description: "Looks up.",
      parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
    },
  ],
  audio: [{ messageIndex: 5, wav }],
});

const answer: WireAnswer = {
  texts: ["We close ", "at ten."],
  toolCalls: [{ id: "call00001", name: "lookup", arguments: { q: "ten" } }],
  inputTokens: 50,
  cachedTokens: 20,
  outputTokens: 9,
};

describe.each(SUBJECTS)("the contract of $vendor", ({ wire, ...subject }) => {
  let opened: OpenedSubject;
  let request: LocalRequest;
  beforeAll(async () => {
    opened = await openSubject(
      { wire, ...subject },
      serveVendor(wire, () => answer),
    );
    const { audio: _audio, ...words } = whole;
    const { error } = await collect(
      opened.engine.generate(subject.takesAudio ? whole : words, neverAborted()),
    );
    const [first] = opened.server.requests;
    if (error !== null || first === undefined) throw new Error("it was refused", { cause: error });
    request = first;
  });
  afterAll(async () => {
    await opened.engine.close();
    await opened.server.close();
  });

  it("has all that is sent, and notices each field that changes", () => {
    expect(wire.problemOf(request)).toBeNull();
    const renamed = renamedFields(JSON.parse(request.body), OPEN);
    expect(renamed.length).toBeGreaterThan(15);
    const unnoticed = renamed.filter(
      ({ document }) => wire.problemOf({ ...request, body: JSON.stringify(document) }) === null,
    );
    expect(unnoticed.map(({ path }) => path)).toEqual([]);
  });

  it("has all that is answered, and notices each field that changes", () => {
    const documents = wire.encode(answer).flatMap((unit) => wire.documents(unit));
    expect(documents.length).toBeGreaterThan(3);
    for (const { schema, document } of documents) {
      schema.parse(document);
      const renamed = renamedFields(document, OPEN);
      const unnoticed = renamed.filter(({ document: changed }) => schema.safeParse(changed).success);
      expect(unnoticed.map(({ path }) => path)).toEqual([]);
    }
  });

  it("has the errors", () => {
    for (const status of [400, 401, 429, 500, 529])
      expect(JSON.parse(wire.refusal({ status, message: "no" }))).toEqual(expect.anything());
  });
});
