import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallError } from "./call-error.ts";
import type { Joined } from "./connect.ts";
import { Inbox } from "./inbox.ts";
import type { Link } from "./link.ts";
import { recover } from "./recovery.ts";

const network = () => new CallError("network", "not reached");
const link = (restart: () => Promise<boolean>): Link => ({ restart }) as unknown as Link;
const another: Joined = { link: link(() => Promise.resolve(true)), inbox: new Inbox() };

describe("recovery", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(0);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("restarts first, and is done when the link comes back", async () => {
    const found = new AbortController();
    const rejoin = vi.fn<() => Promise<Joined>>();
    const done = recover({ link: link(() => Promise.resolve(true)), rejoin, signal: found.signal });
    await vi.advanceTimersByTimeAsync(1_000);
    found.abort();
    expect(await done).toBeNull();
    expect(rejoin).not.toHaveBeenCalled();
  });

  it("joins again when a restart fails", async () => {
    const restart = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true));
    const done = recover({
      link: link(restart),
      rejoin: () => Promise.resolve(another),
      signal: new AbortController().signal,
    });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await done).toBe(another);
    expect(restart).toHaveBeenCalledTimes(1);
  });

  it("joins again at once when the service does not know the connection any more", async () => {
    const rejoin = vi.fn<() => Promise<Joined>>(() => Promise.resolve(another));
    const done = recover({
      link: link(() => Promise.resolve(false)),
      rejoin,
      signal: new AbortController().signal,
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(await done).toBe(another);
  });

  it("retries while the network is down, or the service still holds the old connection", async () => {
    const failures = [network(), new CallError("already_joined", "lives"), network()];
    const rejoin = vi.fn<() => Promise<Joined>>(() => {
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve(another) : Promise.reject(failure);
    });
    const restart = vi.fn<() => Promise<boolean>>(() =>
      failures.length > 2 ? Promise.reject(network()) : Promise.resolve(false),
    );
    const done = recover({ link: link(restart), rejoin, signal: new AbortController().signal });
    failures.pop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await done).toBe(another);
    expect(rejoin).toHaveBeenCalledTimes(3);
  });

  it("waits as long as the service says before it joins again", async () => {
    const options = { problem: null, retryAfterSeconds: 2 };
    const rejoin = vi
      .fn<() => Promise<Joined>>()
      .mockRejectedValueOnce(new CallError("refused", "later", options))
      .mockResolvedValueOnce(another);
    const done = recover({
      link: link(() => Promise.resolve(false)),
      rejoin,
      signal: new AbortController().signal,
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(rejoin).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await done).toBe(another);
  });

  it("ends at once when the call is over", async () => {
    const rejoin = () => Promise.reject(new CallError("gone", "over"));
    const done = recover({
      link: link(() => Promise.resolve(false)),
      rejoin,
      signal: new AbortController().signal,
    });
    await expect(done).rejects.toMatchObject({ code: "gone" });
  });

  it("gives nothing out when it is called off during a new join", async () => {
    const called = new AbortController();
    const rejoin = (signal: AbortSignal) =>
      new Promise<Joined>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const done = recover({ link: link(() => Promise.resolve(false)), rejoin, signal: called.signal });
    await vi.advanceTimersByTimeAsync(10);
    called.abort();
    expect(await done).toBeNull();
  });
});
