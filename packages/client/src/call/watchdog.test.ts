import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Watchdog } from "./watchdog.ts";

describe("a watchdog", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function started(answers: (requested: number) => boolean) {
    const requested: number[] = [];
    const silent = vi.fn<() => void>();
    const watchdog: Watchdog = new Watchdog({
      silent,
      send: (text) => {
        const { timestamp } = JSON.parse(text) as { timestamp: number };
        requested.push(timestamp);
        if (answers(requested.length)) {
          queueMicrotask(() => watchdog.read(JSON.stringify({ type: "pong", timestamp })));
        }
        return true;
      },
    });
    watchdog.start();
    return { watchdog, requested, silent };
  }

  it("is content while its questions are answered", async () => {
    const { watchdog, requested, silent } = started(() => true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requested.length).toBeGreaterThan(20);
    expect(silent).not.toHaveBeenCalled();
    watchdog.stop();
  });

  it("tells once when answers stop", async () => {
    const { silent } = started((requested) => requested < 5);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(silent).toHaveBeenCalledTimes(1);
  });

  it("counts anything that comes as a sign", async () => {
    const { watchdog, silent } = started((requested) => requested < 2);
    for (let i = 0; i < 20; i += 1) {
      await vi.advanceTimersByTimeAsync(2_000);
      watchdog.heard();
    }
    expect(silent).not.toHaveBeenCalled();
    watchdog.stop();
  });

  it("says nothing where pongs never come, for they may be turned off", async () => {
    const { watchdog, silent } = started(() => false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(silent).not.toHaveBeenCalled();
    watchdog.stop();
  });

  it("keeps its own pongs to itself, and no other's", async () => {
    const { watchdog, requested } = started(() => false);
    const own = requested[0] ?? -1;
    expect(watchdog.read('{"type":"pong","timestamp":7.5}')).toBe(false);
    expect(watchdog.read(JSON.stringify({ type: "pong", timestamp: own }))).toBe(true);
    expect(watchdog.read(JSON.stringify({ type: "pong", timestamp: own }))).toBe(false);
    expect(watchdog.read(`{"type":"user","text":"{\\"type\\":\\"pong\\"}"}`)).toBe(false);
    watchdog.stop();
  });
});
