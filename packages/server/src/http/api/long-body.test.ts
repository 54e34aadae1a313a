import { ApiError, type LongList, parseBody, routeOf } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_BODY_BYTES } from "./json-body.ts";
import { ListSplitter } from "./list-splitter.ts";
import { parseLongBody } from "./long-body.ts";

const route = routeOf("createScheduledBatch");
if (route.longList === null) throw new Error("batches are read one call at a time");
const batches: LongList = { ...route.longList, maxEntries: 300 };

async function outcome(body: string | Uint8Array, list = batches): Promise<unknown> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  try {
    return await parseLongBody(list, bytes, {});
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.errors.length === 0) return `${error.code}: ${error.detail}`;
    return error.errors.map(({ field, message }) => `${field}: ${message}`);
  }
}

describe("a body with a long list", () => {
  it.each([
    '{"calls":[{}]}',
    '{"paused":true,"calls":[{"metadata":{"a":"]},{\\"\\\\"}},{"templateContext":{"x":[[1,{}],"ü"]}}],"throttle":"calls"}',
    ' { "throttle" : "[" , "calls" : [ { } , { "metadata" : { } } ] , "paused" : false } ',
    '{"c\\u0061lls":[{},{}]}',
    '{"calls":[{"metadata":{"a":"\\ud83d\\ude00 \\u00fc"}}]}',
  ])("is what it is as a whole: %s", async (text) => {
    const whole: unknown = JSON.parse(text);
    expect(await outcome(text)).toEqual(parseBody(route.request ?? batches.rest, whole));
  });

  it.each([
    ["{}", ["calls: is required"]],
    ["", ["calls: is required"]],
    ['{"calls":null}', ["calls: is required"]],
    ['{"calls":{"a":[1]}}', ["calls: must be a list"]],
    ['{"x":["calls",[1]],"calls":"[]"}', ["calls: must be a list", "x: is not a known field"]],
    ['{"calls":[]}', ["calls: must have at least 1 entry"]],
    ['{"calls":[ \n]}', ["calls: must have at least 1 entry"]],
    ['{"calls":[{}],"calls":[{}]}', ["calls: must not be given twice"]],
    ['[{"calls":[{}]}]', [": must be a JSON object"]],
    ['["calls",[{}]]', [": must be a JSON object"]],
    [
      '{"calls":[1,{"phone":1},null]}',
      [
        "calls.0: must be a JSON object",
        "calls.1.phone: is not a known field",
        "calls.2: must be a JSON object",
      ],
    ],
    [
      '{"paused":1,"calls":[{},{"metadata":{"a":1}}]}',
      ["paused: must be true or false", "calls.1.metadata.a: must be text"],
    ],
    [
      '{"calls":[{"__proto__":{}},{"metadata":{"a":"\\u0000"}}]}',
      [
        "calls.0.__proto__: is not an allowed name",
        "calls.1.metadata.a: must not contain the character U+0000",
      ],
    ],
    ['{"calls":[{},,{}]}', ["calls.1: is not valid JSON"]],
    ['{"calls":[,]}', ["calls.0: is not valid JSON", "calls.1: is not valid JSON"]],
    ['{"calls":[{},]}', ["calls.1: is not valid JSON"]],
    ['{"calls":[{} {}]}', ["calls.0: is not valid JSON"]],
    ['{"calls":[{}', "validation_failed: The body is not valid JSON: it ends too early."],
  ])("is refused: %s", async (text, problems) => {
    expect(await outcome(text)).toEqual(problems);
  });

  it.each([
    '{"calls":[{}}}',
    '{"calls":[{"a":]}',
    '{"calls":[{}]} x',
    '{"calls":[{}]}}',
    'x{"calls":[{}]}',
    '{"calls" [{}]}',
    '{"calls":1 [{}]}',
    '{"a" "calls":[{}]}',
    '{"calls":[{}],}',
    '{"calls":[{}]',
    '"{\\"calls\\":[{}]}',
  ])("is no JSON: %s", async (text) => {
    expect(String(await outcome(text))).toMatch(/^validation_failed: The body is not valid JSON/);
  });

  it("is no text", async () => {
    const bytes = Buffer.concat([Buffer.from('{"calls":[{"a":"'), Buffer.from([0xff]), Buffer.from('"}]}')]);
    expect(await outcome(bytes)).toEqual(["calls.0: is not valid JSON"]);
  });

  it("has limits of its own: entries, problems, depth, the size of an entry and of the rest", async () => {
    const calls = (count: number, call = "{}"): string => `{"calls":[${Array(count).fill(call).join()}]}`;
    expect(await outcome(calls(300))).toMatchObject({ calls: { length: 300 } });
    expect(await outcome(calls(301))).toEqual(["calls: must have at most 300 entries"]);
    const many = (await outcome(calls(300, "1"))) as string[];
    expect([many.length, many[99], many[100]]).toEqual([
      101,
      "calls.99: must be a JSON object",
      ": has more problems than are listed here",
    ]);
    const deep = (depth: number): string =>
      calls(1, `{"templateContext":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`);
    expect(await outcome(deep(60))).toMatchObject({ calls: [{}] });
    expect(await outcome(deep(61))).toBe("payload_too_large: The body nests deeper than 64 levels.");
    const long = "x".repeat(MAX_BODY_BYTES);
    expect(await outcome(`{"calls":[{},{"metadata":{"a":"${long}"}}]}`)).toEqual([
      "calls.1: must have at most 1048576 bytes",
    ]);
    expect(await outcome(`{"calls":[{}],"throttle":"${long}"}`)).toMatch(/^payload_too_large: Without calls/);
  });

  it("is cut into pieces that are JSON exactly if the whole is", () => {
    const tokens = fc.constantFrom("{", "}", "[", "]", ",", ":", '"calls"', '"a"', "1", " ", '"\\""', '"]"');
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 20 }), (list) => {
        const text = list.join("");
        for (const whole of [text, `{"calls":[${text}]}`, `{"calls":[{${text}},${text}]}`]) {
          expect([whole, isJson(whole)]).toEqual([whole, piecesAreJson(whole)]);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A text with the list twice gets no detail: it is refused before it is parsed. */
function piecesAreJson(text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  const splitter = new ListSplitter(bytes, "calls", { maxDepth: 64, maxEntries: 100 });
  for (const _ of splitter.steps());
  if (splitter.fault === "repeated") return isJson(text);
  if (splitter.fault !== null) return false;
  const read = (piece: Uint8Array): string => new TextDecoder().decode(piece);
  const entries = Array.from({ length: splitter.count ?? 0 }, (_, index) => splitter.entry(index));
  return [splitter.rest(), ...entries].every((piece) => isJson(read(piece)));
}
