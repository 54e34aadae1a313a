import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FRESH_MS, ToolLists, USABLE_MS, WAIT_MS } from "./tool-lists.ts";
import type { McpTool } from "./tools-mcp.ts";

const URL_A = "https://a.test/mcp";
const list = (name: string): readonly McpTool[] => [{ name, description: "", inputSchema: {} }];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Servers that answer when they are told to. */
function servers() {
  const requests: { url: string; answer: PromiseWithResolvers<readonly McpTool[]> }[] = [];
  const lists = new ToolLists(
    (url) => {
      const answer = Promise.withResolvers<readonly McpTool[]>();
      requests.push({ url, answer });
      return answer.promise;
    },
    () => Date.now(),
  );
  const get = (url = URL_A, headers = {}) => lists.get(url, headers).catch((error: unknown) => String(error));
  const answer = (index: number, tools: readonly McpTool[]) => requests[index]?.answer.resolve(tools);
  return { requests, get, answer };
}

describe("lists of tools", () => {
  it("are asked for once while they are fresh, by server and headers", async () => {
    const { requests, get, answer } = servers();
    const both = [get(), get()];
    answer(0, list("one"));
    expect(await Promise.all(both)).toEqual([list("one"), list("one")]);
    expect(await get()).toEqual(list("one"));
    expect(requests).toHaveLength(1);
    void get(URL_A, { authorization: "x" });
    void get("https://b.test/mcp");
    expect(requests).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    const again = get();
    answer(3, list("two"));
    expect(await again).toEqual(list("two"));
  });

  it("are waited for a short time, and used when they come later", async () => {
    const { requests, get, answer } = servers();
    const first = get();
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(await first).toBe("Error: it did not list its tools within 2 s");
    const second = get();
    answer(0, list("late"));
    expect(await second).toEqual(list("late"));
    expect(requests).toHaveLength(1);
  });

  it("are used for some minutes where the server has become slow, but not where it refuses", async () => {
    const { requests, get, answer } = servers();
    void get();
    answer(0, list("old"));
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    const slow = get();
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(await slow).toEqual(list("old"));
    const refused = get();
    requests[1]?.answer.reject(new Error("it answered with 401"));
    expect(await refused).toBe("Error: it answered with 401");
    await vi.advanceTimersByTimeAsync(USABLE_MS);
    const late = get();
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(await late).toContain("within 2 s");
  });

  it("are asked of a limited number of slow servers at a time, and kept for a limited number", async () => {
    const { requests, get, answer } = servers();
    for (let n = 0; n < 64; n += 1) void get(`https://s${String(n)}.test`);
    expect(await get()).toBe("Error: too many other servers have not answered yet");
    for (let n = 0; n < 64; n += 1) answer(n, list("x"));
    await vi.advanceTimersByTimeAsync(0);
    for (let n = 64; n < 400; n += 1) {
      const one = get(`https://s${String(n)}.test`);
      answer(n, list("x"));
      await one;
    }
    expect(requests).toHaveLength(400);
    void get("https://s399.test");
    expect(requests).toHaveLength(400);
    void get("https://s0.test");
    expect(requests).toHaveLength(401);
  });
});
