import { describe, expect, it } from "vitest";
import { kindOf } from "./error-kind.ts";

describe("the kind of an error", () => {
  it("is its name, its code and its place", () => {
    expect(kindOf(new TypeError("x"))).toMatch(/^TypeError at error-kind\.test\.ts:\d+$/);
    let caught: unknown = null;
    try {
      Buffer.alloc(1).readUInt32BE(7);
    } catch (error) {
      caught = error;
    }
    expect(kindOf(caught)).toMatch(/^RangeError ERR_\w+ at \w[\w.-]*:\d+$/);
    expect(kindOf("x")).toBe("a thrown string");
  });

  it("holds nothing of its message, also where that looks like a place in the code", () => {
    const error = new Error("secret\n    at secret (/secret.ts:1:1)");
    expect(kindOf(error)).not.toContain("secret");
    Reflect.deleteProperty(error, "stack");
    expect(kindOf(error)).toBe("Error");
  });
});
