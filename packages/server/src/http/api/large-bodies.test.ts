import { EventEmitter } from "node:events";
import { ApiError } from "@parley/schema";
import { expect, it } from "vitest";
import { MAX_BODY_BYTES } from "./json-body.ts";
import { LargeBodies } from "./large-bodies.ts";

const MIB = 1_048_576;

function openBodies() {
  const bodies = new LargeBodies();
  const held: { readonly request: object; readonly answer: EventEmitter }[] = [];
  const admit = (accountId: string, bytes: number | undefined, maxBytes = 32 * MIB): string => {
    const contentLength = bytes === undefined ? undefined : String(bytes);
    try {
      const exchange = { request: {}, answer: new EventEmitter() };
      const isLarge = bodies.admit({ accountId, contentLength, maxBytes }, exchange);
      if (isLarge) held.push(exchange);
      return isLarge ? "large" : "usual";
    } catch (error) {
      return error instanceof ApiError ? error.code : String(error);
    }
  };
  const close = (index: number): void => {
    held[index]?.answer.emit("close");
  };
  return { bodies, admit, held, close };
}

it("holds one large body of each account, and any number of usual ones", () => {
  const { admit, held, close } = openBodies();
  expect(admit("a", MAX_BODY_BYTES + 1)).toBe("large");
  expect(admit("a", MAX_BODY_BYTES)).toBe("usual");
  expect(admit("a", MAX_BODY_BYTES + 1)).toBe("no_capacity");
  expect(admit("a", undefined)).toBe("no_capacity");
  expect(admit("a", undefined, MAX_BODY_BYTES)).toBe("usual");
  expect(admit("b", undefined)).toBe("large");
  expect(held).toHaveLength(2);
  close(0);
  expect(admit("a", undefined)).toBe("large");
});

it("holds 96 MiB in all", () => {
  const { admit, close } = openBodies();
  expect(["a", "b", "c"].map((account) => admit(account, undefined))).toEqual(["large", "large", "large"]);
  expect(admit("d", 2 * MIB)).toBe("no_capacity");
  close(1);
  // It is never read beyond the limit of the operation.
  expect(["d", "e", "f", "g"].map((account) => admit(account, 1e12, 10 * MIB))).toEqual([
    "large",
    "large",
    "large",
    "no_capacity",
  ]);
});

it("holds a body while it is worked on, also after its client has gone", async () => {
  const { bodies, admit, held, close } = openBodies();
  expect(admit("a", undefined)).toBe("large");
  const stored = Promise.withResolvers<string>();
  const working = bodies.during(held[0]?.request ?? {}, () => stored.promise);
  close(0);
  expect(admit("a", undefined)).toBe("no_capacity");
  stored.resolve("stored");
  expect(await working).toBe("stored");
  expect(admit("a", undefined)).toBe("large");
  // A request whose work fails before the request is over.
  const failing = bodies.during(held[1]?.request ?? {}, () => Promise.reject(new Error("refused")));
  await expect(failing).rejects.toThrow("refused");
  expect(admit("a", undefined)).toBe("no_capacity");
  close(1);
  expect(admit("a", undefined)).toBe("large");
  // Other failures are ignored.
  expect(await bodies.during({}, () => Promise.resolve(1))).toBe(1);
});
