import { afterEach, describe, expect, it, vi } from "vitest";
import { Emitter } from "./emitter.ts";

describe("an emitter", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it("tells all listeners, until they are taken away", () => {
    const emitter = new Emitter<{ said: string }>();
    const heard: string[] = [];
    const off = emitter.on("said", (text) => heard.push(`a ${text}`));
    emitter.on("said", (text) => heard.push(`b ${text}`));
    emitter.emit("said", "1");
    off();
    emitter.emit("said", "2");
    emitter.clear();
    emitter.emit("said", "3");
    expect(heard).toEqual(["a 1", "b 1", "b 2"]);
  });

  it("lets no listener keep the others from hearing, and reports what it threw", () => {
    const reported = vi.fn<(error: unknown) => void>();
    vi.stubGlobal("reportError", reported);
    const emitter = new Emitter<{ said: string }>();
    const failure = new Error("of a listener");
    const heard: string[] = [];
    emitter.on("said", () => {
      emitter.on("said", () => heard.push("late"));
      throw failure;
    });
    emitter.on("said", (text) => heard.push(text));
    emitter.emit("said", "1");
    expect(heard).toEqual(["1"]);
    expect(reported).toHaveBeenCalledWith(failure);
  });
});
