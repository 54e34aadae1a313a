import { routeOf } from "@parley/schema";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { requestHash } from "./idempotency.ts";

const route = routeOf("createAgentCall");
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const request = { params: { agent_id: "ab" }, rawQuery: "a=1&b=2", body: bytes("{}") };
const first = await requestHash(route, request);

describe("two requests", () => {
  it.each([
    ["ids in another case", { ...request, params: { agent_id: "AB" } }],
    ["the parameters in another order", { ...request, rawQuery: "b=2&a=1" }],
    ["the parameters written otherwise", { ...request, rawQuery: "a=%31&b=2" }],
  ])("are the same with %s", async (_what, other) => {
    expect(await requestHash(route, other)).toBe(first);
  });

  it.each([
    ["another id", { ...request, params: { agent_id: "ac" } }],
    ["another parameter", { ...request, rawQuery: "a=1&b=3" }],
    ["fewer parameters", { ...request, rawQuery: "a=1" }],
    ["a parameter twice", { ...request, rawQuery: "a=1&b=2&b=2" }],
    ["other bytes", { ...request, body: bytes("{ }") }],
    ["no body", { ...request, body: null }],
  ])("differ with %s", async (_what, other) => {
    expect(await requestHash(route, other)).not.toBe(first);
  });

  it("differ by their operation", async () => {
    expect(await requestHash(routeOf("createCall"), request)).not.toBe(first);
  });

  it("differ by any part of a long body, and nothing waits for its hash", async () => {
    const body = new Uint8Array(32 * 1024 * 1024);
    // A mebibyte takes a millisecond, on any machine.
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 1));
    onTestFinished(() => clock.mockRestore());
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const hash = await requestHash(route, { ...request, body });
    clearImmediate(next);
    clock.mockRestore();
    expect(turns).toBeGreaterThan(4);
    for (const at of [0, 1024 * 1024 - 1, 1024 * 1024, body.length - 1]) {
      body[at] = 1;
      expect(await requestHash(route, { ...request, body })).not.toBe(hash);
      body[at] = 0;
    }
    expect(await requestHash(route, { ...request, body })).toBe(hash);
  });
});
