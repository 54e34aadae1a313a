import { ApiError } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonType, MAX_JSON_DEPTH, nestsDeeper, parseJsonBody } from "./json-body.ts";

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

  it("leaves the same word alone as a value", () => {
    expect(parseJsonBody(Buffer.from('{"name":"__proto__"}'))).toEqual({ name: "__proto__" });
  });
});

describe("nestsDeeper", () => {
  it("does not count brackets inside texts", () => {
    expect(nestsDeeper(Buffer.from(JSON.stringify({ a: '[[[["\\[[[' })), 1)).toBe(false);
    expect(nestsDeeper(Buffer.from('["\\\\",[1]]'), 1)).toBe(true);
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
