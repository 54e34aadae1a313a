import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { SttEngine, SttListener } from "../../ports/stt.ts";
import { Recognition } from "./recognition.ts";

/** A recogniser that records every call to it, and whose listeners a test can call. */
function setUp(broken: readonly string[] = []) {
  const log: string[] = [];
  const listeners = new Map<string, SttListener>();
  const stt: SttEngine = {
    name: "keeps",
    open: ({ language }, listener) => {
      const name = language ?? "none";
      if (broken.includes(name)) throw new Error(`no ${name} here`);
      log.push(`${name}: begun`);
      listeners.set(name, listener);
      return {
        open: (id) => log.push(`${name}: open ${id}`),
        push: (id, samples) => log.push(`${name}: push ${id} ${samples.length}`),
        request: (id, revision) => log.push(`${name}: request ${id} ${revision}`),
        abandon: (id) => log.push(`${name}: abandon ${id}`),
        close: () => log.push(`${name}: closed`),
      };
    },
    close: () => Promise.resolve(),
  };
  const events: CallEngineEventBody[] = [];
  const recognition = new Recognition(stt, (event) => void events.push(event));
  const logged = (): string[] => log.splice(0);
  return { recognition, events, listeners, logged };
}

describe("Recognition", () => {
  test("an utterance begins with what was heard before it was noticed", () => {
    const { recognition, logged } = setUp();
    recognition.start(null);
    recognition.open(1, [new Int16Array(3), new Int16Array(2)]);
    recognition.push(new Int16Array(5));
    recognition.request(1, 2);
    recognition.abandon(1);
    expect(logged()).toEqual([
      "none: begun",
      "none: open 1",
      "none: push 1 3",
      "none: push 1 2",
      "none: push 1 5",
      "none: request 1 2",
      "none: abandon 1",
    ]);
  });

  test("follows a language between utterances", () => {
    const { recognition, logged } = setUp();
    recognition.start("en");
    recognition.follow("en");
    recognition.follow("de");
    recognition.open(1, []);
    expect(logged()).toEqual(["en: begun", "de: begun", "en: closed", "de: open 1"]);
  });

  test("an utterance under way ends in the language in which it began", () => {
    const { recognition, listeners, events, logged } = setUp();
    recognition.start("en");
    recognition.open(1, []);
    recognition.follow("de");
    recognition.open(2, []);
    recognition.push(new Int16Array(4));
    recognition.request(1, 0);
    listeners.get("en")?.final(1, 0, "hello", true);
    recognition.abandon(1);
    recognition.abandon(2);
    expect(logged()).toEqual([
      "en: begun",
      "en: open 1",
      "de: begun",
      "de: open 2",
      "en: push 1 4",
      "de: push 2 4",
      "en: request 1 0",
      "en: abandon 1",
      "en: closed",
      "de: abandon 2",
    ]);
    expect(events).toEqual([
      { type: "transcriptFinished", utteranceId: 1, revision: 0, text: "hello", understood: true },
    ]);
  });

  test("a failure says whether a retry can help", () => {
    const { recognition, events, listeners } = setUp();
    recognition.start("en");
    recognition.open(1, []);
    const refused = new EngineFailure("wrong key", { isPermanent: true, type: "401" });
    listeners.get("en")?.failed(1, 0, refused);
    listeners.get("en")?.failed(1, 1, new EngineFailure("busy"));
    expect(events).toEqual([
      {
        type: "transcriptFailed",
        utteranceId: 1,
        revision: 0,
        error: "wrong key",
        permanent: true,
        errorType: "401",
      },
      { type: "transcriptFailed", utteranceId: 1, revision: 1, error: "busy" },
    ]);
  });

  test("a language that cannot be opened fails its transcripts, and the next one may work", () => {
    const { recognition, events, logged } = setUp(["xx"]);
    recognition.start("en");
    recognition.follow("xx");
    recognition.open(1, []);
    recognition.request(1, 0);
    recognition.abandon(1);
    expect(events).toEqual([{ type: "transcriptFailed", utteranceId: 1, revision: 0, error: "no xx here" }]);
    recognition.follow("de");
    recognition.open(2, []);
    expect(logged()).toEqual(["en: begun", "en: closed", "de: begun", "de: open 2"]);
  });

  test("the oldest utterance goes when there are too many", () => {
    const { recognition, logged } = setUp();
    recognition.start("en");
    for (let id = 1; id <= 9; id += 1) recognition.open(id, []);
    expect(logged().filter((line) => line.includes("abandon"))).toEqual(["en: abandon 1"]);
  });

  test("closes every stream once, and says nothing afterwards", () => {
    const { recognition, listeners, events, logged } = setUp();
    recognition.start("en");
    recognition.open(1, []);
    recognition.follow("de");
    logged();
    recognition.close();
    recognition.close();
    listeners.get("en")?.final(1, 0, "late", true);
    recognition.follow("fr");
    expect([logged(), events]).toEqual([["en: closed", "de: closed"], []]);
  });
});
