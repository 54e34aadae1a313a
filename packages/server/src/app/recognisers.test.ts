import { describe, expect, it } from "vitest";
import type { SttEngine, SttListener, SttOptions } from "../ports/stt.ts";
import { recogniserNames, routeRecognisers } from "./recognisers.ts";

function engineNamed(name: string, log: string[]): SttEngine {
  return {
    name,
    examplePhrases: [`${name} phrase`],
    open: (options: SttOptions) => {
      log.push(`${name}: open ${JSON.stringify(options)}`);
      const nothing = (): void => undefined;
      return { open: nothing, push: nothing, request: nothing, abandon: nothing, close: nothing };
    },
    close: () => {
      log.push(`${name}: closed`);
      return Promise.resolve();
    },
  };
}

function setUp() {
  const log: string[] = [];
  const warnings: string[] = [];
  const nothing = (): void => undefined;
  const listener: SttListener = {
    partial: nothing,
    final: nothing,
    failed: nothing,
    warned: (one) => void warnings.push(one),
  };
  const main = engineNamed("openai", log);
  const stt = routeRecognisers(main, [engineNamed("deepgram", log)]);
  return { log, warnings, listener, main, stt };
}

describe("several recognisers", () => {
  it("are opened by the name that the call gives", () => {
    const { stt, log, listener } = setUp();
    stt.open({ language: "en", hints: ["Torquay"], recogniser: "deepgram" }, listener);
    stt.open({ language: null }, listener);
    expect(log).toEqual([
      'deepgram: open {"language":"en","hints":["Torquay"]}',
      'openai: open {"language":null}',
    ]);
  });

  it("have names, and otherwise look like the default", () => {
    const { stt } = setUp();
    expect(recogniserNames(stt)).toEqual(["openai", "deepgram"]);
    expect([stt.name, stt.examplePhrases]).toEqual(["openai", ["openai phrase"]]);
    expect(recogniserNames(engineNamed("own", []))).toEqual(["own"]);
  });

  it("warn of a name that was taken away since the call was created", async () => {
    const { stt, log, warnings, listener } = setUp();
    stt.open({ language: null, recogniser: "gone" }, listener);
    await Promise.resolve();
    expect(log).toEqual(['openai: open {"language":null}']);
    expect(warnings).toEqual([expect.stringContaining("gone")]);
  });

  it("are closed together; one alone is itself", async () => {
    const { stt, log, main } = setUp();
    await stt.close();
    expect(log).toEqual(["openai: closed", "deepgram: closed"]);
    expect(routeRecognisers(main, [])).toBe(main);
  });
});
