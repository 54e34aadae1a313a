import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { TurnDetector, TurnQuestion } from "../../ports/turn-detector.ts";
import { TurnDetectors } from "./turn-detectors.ts";

const QUESTION = {
  type: "judgeTurn",
  utteranceId: 3,
  revision: 2,
  text: "and the",
  agentText: "Which one?",
  languageHint: "en",
} as const;
const AUDIO = new Int16Array(160).fill(7);

function detector(name: string, changes: Partial<TurnDetector> = {}): TurnDetector {
  return {
    name,
    listens: false,
    judge: () => Promise.resolve(null),
    close: () => Promise.resolve(),
    ...changes,
  };
}

async function ask(detectors: readonly TurnDetector[], times = 1) {
  const posted: CallEngineEventBody[] = [];
  const turnDetectors = new TurnDetectors(detectors, (event) => posted.push(event));
  for (let revision = 1; revision <= times; revision += 1)
    turnDetectors.ask({ ...QUESTION, revision }, () => AUDIO);
  await new Promise(setImmediate);
  return { posted, turnDetectors };
}

test("every detector is asked, and only one that listens gets the audio", async () => {
  const requested: TurnQuestion[] = [];
  const judge = (question: TurnQuestion) => {
    requested.push(question);
    return Promise.resolve({ finished: requested.length === 1 ? 0.2 : 7 });
  };
  const { posted } = await ask([detector("text", { judge }), detector("audio", { judge, listens: true })]);
  expect(requested).toEqual([
    { text: "and the", agentText: "Which one?", language: "en", audio: null },
    { text: "and the", agentText: "Which one?", language: "en", audio: AUDIO },
  ]);
  expect(posted).toEqual([
    {
      type: "turnJudged",
      utteranceId: 3,
      revision: 1,
      finished: 0.2,
      by: "text",
      listens: false,
      pending: 1,
    },
    { type: "turnJudged", utteranceId: 3, revision: 1, finished: 1, by: "audio", listens: true, pending: 0 },
  ]);
});

test("no opinion is an answer, and so is nobody to ask", async () => {
  expect((await ask([detector("text")])).posted).toMatchObject([{ finished: null, by: "text", pending: 0 }]);
  expect((await ask([])).posted).toMatchObject([{ finished: null, pending: 0 }]);
});

test.each([
  ["rejects", () => Promise.reject(new Error("no model"))],
  [
    "throws",
    () => {
      throw new Error("no model");
    },
  ],
])("a detector that %s is a warning, and counts as no opinion", async (_, judge) => {
  const { posted } = await ask([detector("audio", { judge })]);
  expect(posted).toEqual([
    { type: "engineWarned", engine: "turn", detail: "the turn detector audio failed: no model" },
    {
      type: "turnJudged",
      utteranceId: 3,
      revision: 1,
      finished: null,
      by: "audio",
      listens: false,
      pending: 0,
    },
  ]);
});

test("a newer question aborts the older one, whose answer is not posted; so does the end", async () => {
  const signals: AbortSignal[] = [];
  const judge = (_: TurnQuestion, signal: AbortSignal) => {
    signals.push(signal);
    return Promise.resolve({ finished: 0.5 });
  };
  const { posted, turnDetectors } = await ask([detector("text", { judge })], 2);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(posted).toMatchObject([{ revision: 2 }]);
  turnDetectors.close();
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

describe("the opinion of the recogniser", () => {
  function open(detectors: readonly TurnDetector[] = []) {
    const posted: CallEngineEventBody[] = [];
    const turnDetectors = new TurnDetectors(detectors, (event) => posted.push(event));
    const ask = (utteranceId: number, revision: number) => {
      turnDetectors.ask({ ...QUESTION, utteranceId, revision }, () => AUDIO);
    };
    return { posted, turnDetectors, ask };
  }

  const heard = { type: "turnJudged", by: "recogniser", listens: true } as const;

  test("counts for a question that it came before, as one of those that listen", () => {
    const { posted, turnDetectors, ask } = open([detector("text", { judge: () => new Promise(() => {}) })]);
    turnDetectors.heard(3, 0.9);
    expect(posted).toEqual([]);
    ask(3, 2);
    expect(posted).toEqual([{ ...heard, utteranceId: 3, revision: 2, finished: 0.9, pending: 1 }]);
    turnDetectors.heard(3, null);
    expect(posted.slice(1)).toEqual([{ ...heard, utteranceId: 3, revision: 2, finished: null, pending: 1 }]);
  });

  test("counts when it comes late, without making others count as answered", async () => {
    const asked = Promise.withResolvers<null>();
    const { posted, turnDetectors, ask } = open([
      detector("text", { judge: () => Promise.resolve({ finished: 0.4 }) }),
      detector("audio", { judge: () => asked.promise, listens: true }),
    ]);
    ask(3, 1);
    await new Promise(setImmediate);
    turnDetectors.heard(3, 7);
    expect(posted.slice(1)).toEqual([{ ...heard, utteranceId: 3, revision: 1, finished: 1, pending: 1 }]);
    asked.resolve(null);
    await new Promise(setImmediate);
    expect(posted.at(-1)).toMatchObject({ by: "audio", finished: null, pending: 0 });
  });

  test("is nobody's for another utterance, after the end, and where there was none to take back", () => {
    const { posted, turnDetectors, ask } = open();
    ask(3, 1);
    expect(posted).toMatchObject([{ by: "nobody", pending: 0 }]);
    turnDetectors.heard(2, 0.9);
    turnDetectors.heard(3, null);
    expect(posted).toHaveLength(1);
    ask(4, 1);
    expect(posted.slice(1)).toMatchObject([{ utteranceId: 4, by: "nobody", finished: null }]);
    turnDetectors.close();
    turnDetectors.heard(4, 0.9);
    expect(posted).toHaveLength(2);
  });
});
