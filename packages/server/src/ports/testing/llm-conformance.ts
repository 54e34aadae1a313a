/** Conformance suite for language model adapters; each adapter's test file registers it with its own engine. */

import { afterEach, describe, expect, it } from "vitest";
import type { LlmEngine, LlmPart, LlmRequest } from "../llm.ts";
import { collect, neverAborted } from "./collect.ts";

export interface Hanging {
  readonly engine: LlmEngine;
  /** Resolves once the engine has received the request and will send nothing more. */
  readonly reached: Promise<unknown>;
}

export interface LlmSubject {
  /** Called once per test; the suite closes what it opened. */
  readonly open: () => LlmEngine | Promise<LlmEngine>;
  /** At least two requests with different replies, each of two or more text deltas. */
  readonly requests: readonly [LlmRequest, LlmRequest, ...LlmRequest[]];
  /** An engine that yields some text (or none) and then hangs. Left out where nothing can hang. */
  readonly openHanging?: () => Hanging | Promise<Hanging>;
  /** An engine whose generation breaks. Left out where nothing can break. */
  readonly openFailing?: () => LlmEngine | Promise<LlmEngine>;
}

export function llmRequest(fields: Partial<LlmRequest> = {}): LlmRequest {
  return {
    model: "default",
    temperature: 0,
    systemPrompt: "",
    messages: [],
    tools: [],
    instruction: null,
    language: null,
    ...fields,
  };
}

export function textOf(parts: readonly LlmPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
}

export function describeLlmConformance(name: string, subject: LlmSubject): void {
  describe(`${name} as a language model`, () => {
    const opened: LlmEngine[] = [];
    const opener = async (open: LlmSubject["open"]): Promise<LlmEngine> => {
      const engine = await open();
      opened.push(engine);
      return engine;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close()));
    });
    streaming(subject, () => opener(subject.open));
    aborting(subject, () => opener(subject.open));
    closing(subject, () => opener(subject.open));
    const { openHanging, openFailing } = subject;
    if (openHanging !== undefined) {
      hanging(subject, async () => {
        const { engine, reached } = await openHanging();
        opened.push(engine);
        return { engine, reached };
      });
    }
    if (openFailing !== undefined) failing(subject, () => opener(openFailing));
  });
}

type Open = () => Promise<LlmEngine>;

function streaming({ requests }: LlmSubject, open: Open): void {
  it("streams text and ends after exactly one finish", async () => {
    const { parts, error } = await collect((await open()).generate(requests[0], neverAborted()));
    expect(error).toBeNull();
    expect(parts.at(-1)?.type).toBe("finish");
    expect(parts.filter((part) => part.type === "finish")).toHaveLength(1);
    const deltas = parts.filter((part) => part.type === "text-delta");
    expect(deltas.length).toBeGreaterThanOrEqual(2);
    for (const delta of deltas) expect(delta.text).not.toBe("");
  });

  it("does not mix concurrent generations", async () => {
    const engine = await open();
    const alone: string[] = [];
    for (const request of requests)
      alone.push(textOf((await collect(engine.generate(request, neverAborted()))).parts));
    expect(new Set(alone).size).toBe(requests.length);
    const three = [...requests, ...requests, ...requests];
    const together = await Promise.all(
      three.map((request) => collect(engine.generate(request, neverAborted()))),
    );
    expect(together.map(({ error }) => error)).toEqual(three.map(() => null));
    expect(together.map(({ parts }) => textOf(parts))).toEqual([...alone, ...alone, ...alone]);
  });

  it("refuses a model that it does not have", async () => {
    const request = { ...requests[0], model: "no such model" };
    const { parts, error } = await collect((await open()).generate(request, neverAborted()));
    expect(parts).toEqual([]);
    expect(error?.message).toContain("no such model");
  });

  it("takes every model that it names", async () => {
    const engine = await open();
    for (const model of engine.models) {
      const { error } = await collect(engine.generate({ ...requests[0], model }, neverAborted()));
      expect(error).toBeNull();
    }
  });
}

function aborting({ requests }: LlmSubject, open: Open): void {
  it("throws an AbortError and yields nothing when the signal is already aborted", async () => {
    const { parts, error } = await collect((await open()).generate(requests[0], AbortSignal.abort()));
    expect(parts).toEqual([]);
    expect(error?.name).toBe("AbortError");
  });

  it("yields nothing after an abort, whatever the reason given, and continues to serve others", async () => {
    const engine = await open();
    const abort = new AbortController();
    const { parts, error } = await collect(engine.generate(requests[0], abort.signal), () => {
      abort.abort(new Error("the caller spoke"));
    });
    expect(parts).toHaveLength(1);
    expect(error?.name).toBe("AbortError");
    const next = await collect(engine.generate(requests[1], neverAborted()));
    expect(next.error).toBeNull();
    expect(textOf(next.parts)).not.toBe("");
  });

  it("lets its reader stop early", async () => {
    const engine = await open();
    for await (const part of engine.generate(requests[0], neverAborted())) {
      expect(part.type).toBe("text-delta");
      break;
    }
    expect((await collect(engine.generate(requests[1], neverAborted()))).error).toBeNull();
  });
}

function closing({ requests }: LlmSubject, open: Open): void {
  it("closes twice, ends what was under way with a throw, and refuses later requests", async () => {
    const engine = await open();
    const { parts, error } = await collect(engine.generate(requests[0], neverAborted()), () =>
      engine.close(),
    );
    expect(parts.some((part) => part.type === "finish")).toBe(false);
    expect(error).not.toBeNull();
    await engine.close();
    const late = await collect(engine.generate(requests[0], neverAborted()));
    expect(late.parts).toEqual([]);
    expect(late.error).not.toBeNull();
  });
}

function hanging({ requests }: LlmSubject, open: () => Promise<Hanging>): void {
  it("throws an AbortError when it is aborted while nothing comes", async () => {
    const { engine, reached } = await open();
    const abort = new AbortController();
    const reading = collect(engine.generate(requests[0], abort.signal));
    await reached;
    abort.abort();
    const { error } = await reading;
    expect(error?.name).toBe("AbortError");
  });

  it("ends a hanging request with a throw when it is closed", async () => {
    const { engine, reached } = await open();
    const reading = collect(engine.generate(requests[0], neverAborted()));
    await reached;
    await engine.close();
    expect((await reading).error).not.toBeNull();
  });
}

function failing({ requests }: LlmSubject, open: Open): void {
  it("throws what went wrong and never finishes", async () => {
    const { parts, error } = await collect((await open()).generate(requests[0], neverAborted()));
    expect(error).not.toBeNull();
    expect(error?.name).not.toBe("AbortError");
    expect(parts.some((part) => part.type === "finish")).toBe(false);
  });
}
