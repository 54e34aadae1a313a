/** Each voice with each fault in a call with a fallback: what is heard, recorded and counted. */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { initResampler } from "../../src/media/resample.ts";
import { type Outcome, tableOf, tableOnPage } from "./fault-table.ts";
import {
  GREETING,
  joinFaultyCall,
  SILENCE_LIMIT_MS,
  VENDOR_FAULTS,
  type VendorFault,
} from "./faulty-call.ts";
import { VOICES } from "./voices.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** The greeting by both voices, and the wait for one that hangs. */
const LISTEN_MS = 9_000;

const found = new Map<string, Map<VendorFault, Outcome>>();

describe.each(VOICES)("$name", ({ name, open }) => {
  test.each(VENDOR_FAULTS)("with the fault %s", async (fault) => {
    const { voice, close } = await open(fault);
    try {
      const call = await joinFaultyCall({ fault, voice, recogniser: null });
      await call.listen(LISTEN_MS);
      const { agent, events } = await call.recorded();
      const first = voice.kind === "deployment" ? "first" : voice.provider.name;
      const outcome = outcomeOf(events);
      const row = found.get(name) ?? new Map<VendorFault, Outcome>();
      found.set(name, row.set(fault, outcome));
      expect(call.longestSilenceMs()).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      // The caller hears all of it; what the first voice has said is not said again.
      expect(agent.join(" ")).toContain("Welcome, how");
      expect(agent.join(" ").match(/Welcome/g)).toHaveLength(1);
      expect(agent.at(-1)).toMatch(/you today\?$/);
      expect(events).not.toContain("call.ended");
      if (outcome === "own") {
        expect(call.failures).toEqual([]);
        expect(call.used).toEqual([`tts ${first} answered`]);
        expect(agent).toEqual([GREETING]);
        return;
      }
      expect(call.failures[0]?.engine).toBe(first);
      expect(call.used[0]).toBe(`tts ${first} failed`);
      expect(call.used.slice(1)).toContain("tts second answered");
      expect(events.filter((type) => type === "tts.replaced")).toHaveLength(1);
      if (outcome === "next") expect(agent).toEqual([GREETING]);
    } finally {
      await close();
    }
  });
});

/** By the record of the call: a failure within a sentence is one of the call, a step to the next voice is none. */
function outcomeOf(events: readonly string[]): Outcome {
  if (!events.includes("tts.replaced")) return "own";
  return events.includes("tts.failed") ? "rest" : "next";
}

test("the page has what was found", () => {
  expect(tableOnPage("voice-faults")).toEqual(tableOf(found));
});
