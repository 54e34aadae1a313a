import { ApiError } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonType, MAX_JSON_DEPTH, MAX_JSON_MEMBERS, excessOf, parseJsonBody } from "./json-body.ts";

function failure(text: string | Uint8Array): ApiError {
  try {
    parseJsonBody(typeof text === "string" ? Buffer.from(text) : text);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("it was parsed");
}

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("parseJsonBody", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (json) => {
        fc.pre(!json.includes("__proto__"));
        expect(parseJsonBody(Buffer.from(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it.each(["", " ", "\r\n\t"])("takes an empty body as {}: %j", (text) => {
    expect(parseJsonBody(Buffer.from(text))).toEqual({});
  });

  it("drops a byte order mark", () => {
    expect(parseJsonBody(Buffer.from("\uFEFF{}"))).toEqual({});
  });

  it("says where the JSON breaks, and quotes nothing", () => {
    const error = failure('{\n  "name": "secret-word" "x"\n}');
    expect(error.code).toBe("validation_failed");
    expect(error.detail).toBe("The body is not valid JSON: line 2, column 25.");
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(failure(Uint8Array.of(0x22, 0xff, 0x22)).detail).toBe("The body is not UTF-8 text.");
  });

  it("takes nesting up to the limit and answers 413 beyond it", () => {
    expect(parseJsonBody(Buffer.from(nested(MAX_JSON_DEPTH)))).toBeInstanceOf(Array);
    expect(failure(nested(MAX_JSON_DEPTH + 1)).code).toBe("payload_too_large");
    expect(failure("[".repeat(1_000_000)).code).toBe("payload_too_large");
  });

  it.each([
    ['{"__proto__":{}}', "__proto__"],
    ['{"metadata":{"a":[{"\\u005f_proto__":1}]}}', "metadata.a.0.__proto__"],
  ])("refuses a key that would set a prototype: %s", (text, field) => {
    expect(failure(text).errors).toEqual([{ field, message: "is not an allowed name" }]);
  });

  it("refuses it however its letters are escaped", () => {
    const escaped = (letter: string, upper: boolean): string => {
      const hex = letter.charCodeAt(0).toString(16).padStart(4, "0");
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    };
    const spelling = fc
      .array(fc.constantFrom("plain", "lower", "upper"), { minLength: 9, maxLength: 9 })
      .map((ways) =>
        Array.from("__proto__", (letter, index) =>
          ways[index] === "plain" ? letter : escaped(letter, ways[index] === "upper"),
        ).join(""),
      );
    fc.assert(
      fc.property(spelling, (key) => {
        expect(failure(`{"a":{"${key}":1}}`).errors).toEqual([
          { field: "a.__proto__", message: "is not an allowed name" },
        ]);
      }),
    );
  });

  it("leaves the same word alone as a value", () => {
    expect(parseJsonBody(Buffer.from('{"name":"__proto__"}'))).toEqual({ name: "__proto__" });
  });
});

describe("excessOf", () => {
  const limits = { depth: 1, members: 3 };

  it.each([
    [JSON.stringify({ a: '[[[["\\[[[' }), null],
    ['["\\\\",[1]]', "nested"],
    ['{"a":"::::{{{","b":1}', null],
    ['{"a":1,"b":2,"c":3}', "crowded"],
    ["[1,2,3,4,5,6]", null],
  ])("looks at what is outside of texts: %s", (text, excess) => {
    expect(excessOf(Buffer.from(text), limits)).toBe(excess);
  });

  it("counts objects and lists as well as members", () => {
    expect(excessOf(Buffer.from("[{},{}]"), { depth: 2, members: 3 })).toBeNull();
    expect(excessOf(Buffer.from("[{},{},[]]"), { depth: 2, members: 3 })).toBe("crowded");
  });
});

describe("a crowded body", () => {
  const body = (members: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, index) => [`k${index}`, 1])));

  it("is refused, and told why", () => {
    // The object itself counts as one.
    expect(parseJsonBody(Buffer.from(body(MAX_JSON_MEMBERS - 1)))).toHaveProperty("k0", 1);
    expect(failure(body(MAX_JSON_MEMBERS)).errors).toEqual([
      { field: "", message: "has more than 50000 members, objects and lists" },
    ]);
  });
});

describe("isJsonType", () => {
  it.each([
    ["application/json", true],
    ["Application/JSON; charset=utf-8", true],
    ["application/merge-patch+json", true],
    ["application/jsonp", false],
    ["text/json", false],
    ["text/plain", false],
    ["multipart/form-data; boundary=application/json", false],
    ["", false],
  ])("%s: %s", (type, expected) => {
    expect(isJsonType(type)).toBe(expected);
  });
});
