import { ApiError } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cursorSigner, type CursorScope } from "./cursor.ts";

const signer = cursorSigner(new Uint8Array(32).fill(7));
const scope: CursorScope = {
  path: "/api/agents",
  accountId: "a-1",
  filters: { search: "x", sort: "-created" },
};
const position = {
  direction: "forward",
  after: { sortValue: "2026-01-02T03:04:05.678Z", id: "b1" },
} as const;

function refusal(text: string, other: Partial<CursorScope> = {}): unknown {
  try {
    return signer.read(text, { ...scope, ...other });
  } catch (error) {
    return error instanceof ApiError ? error.errors : error;
  }
}

const refused = [{ field: "cursor", message: "is not a cursor of this list" }];

describe("cursorSigner", () => {
  it("reads back what it wrote", () => {
    const place = fc.record({
      direction: fc.constantFrom("forward" as const, "backward" as const),
      after: fc.option(
        fc.record({ sortValue: fc.oneof(fc.string({ maxLength: 64 }), fc.integer()), id: fc.uuid() }),
      ),
    });
    fc.assert(
      fc.property(place, (given) => {
        expect(signer.read(signer.write(given, scope), scope)).toEqual(given);
      }),
    );
  });

  it("does not mind the order of the filters, nor absent ones", () => {
    const text = signer.write(position, scope);
    const filters = { voiceId: undefined, sort: "-created", search: "x" };
    expect(signer.read(text, { ...scope, filters })).toEqual(position);
  });

  it.each<[string, Partial<CursorScope>]>([
    ["another path", { path: "/api/calls" }],
    ["another account", { accountId: "a-2" }],
    ["another filter", { filters: { search: "y", sort: "-created" } }],
    ["another sort", { filters: { search: "x", sort: "created" } }],
    ["one filter less", { filters: { sort: "-created" } }],
  ])("refuses use with %s", (_, other) => {
    expect(refusal(signer.write(position, scope), other)).toEqual(refused);
  });

  it("refuses a change of any character", () => {
    const text = signer.write(position, scope);
    for (let at = 0; at < text.length; at += 1) {
      const letter = text[at] === "A" ? "B" : "A";
      expect(refusal(text.slice(0, at) + letter + text.slice(at + 1))).toEqual(refused);
    }
  });

  it.each(["x", ".", "..", "a.b.c", "%00", "A".repeat(5000)])("refuses %j", (text) => {
    expect(refusal(text)).toEqual(refused);
  });

  it("refuses a cursor of another deployment", () => {
    const other = cursorSigner(new Uint8Array(32).fill(8));
    expect(refusal(other.write(position, scope))).toEqual(refused);
  });
});
