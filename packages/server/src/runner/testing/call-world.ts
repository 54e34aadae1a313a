/** Live calls on a manual clock and without a network: minutes in milliseconds. The resampler must be initialised. */

import { sine } from "../../media/testing/signals.ts";
import { openFakeDataConnections } from "../../ports/testing/fake-data-connection.ts";
import {
  openFakeTransport,
  type FakeTransport,
  type FakeTransportOptions,
} from "../../ports/testing/fake-transport.ts";
import type { Recordings } from "../../ports/recordings.ts";
import { openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import { openFakeVoices } from "../../ports/testing/fake-voices.ts";
import type { Traces } from "../../ports/traces.ts";
import type { Voices } from "../../ports/voices.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import type { CallEngines } from "../call-deps.ts";
import type { PrepareStage } from "../tasks/stage-runs.ts";
import { openLiveCalls } from "../live-calls.ts";
import { openFakeEngines } from "./fakes.ts";
import { openManualClock } from "./manual-clock.ts";
import { openMemoryJournal } from "./memory-journal.ts";
import { openMemoryRecordings } from "./memory-recordings.ts";
import { openMemoryRecords } from "./memory-records.ts";
import { noStages } from "./no-stages.ts";
import { testPlan, type PlanChanges } from "./plan.ts";

/** The wall clock at the start. */
export const WORLD_CREATED_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

export function openCallWorld(
  engines: CallEngines = openFakeEngines(),
  recordings: Recordings = openMemoryRecordings(),
  toolInvoker: ToolInvoker = openFakeToolInvoker(),
  prepareStage: PrepareStage = noStages,
  traces: Traces | null = null,
  voices: Voices = openFakeVoices(),
  currency: string | null = null,
  keepsSnapshots = false,
) {
  const clock = openManualClock(WORLD_CREATED_MS);
  const records = openMemoryRecords();
  // Records stay in memory, and are written when the records work again.
  const journal = openMemoryJournal();
  journal.isBroken = true;
  const dataConnections = openFakeDataConnections();
  const logged: string[] = [];
  /** Lines of the log about ends of calls. */
  const ends: Readonly<Record<string, unknown>>[] = [];
  const log = (_fields: unknown, text: string) => void logged.push(text);
  const calls = openLiveCalls({
    engines,
    voices,
    records,
    journal,
    recordings,
    storeEventLogs: true,
    keepsSnapshots,
    openDataConnection: dataConnections.open,
    toolInvoker,
    checkArguments: async () => null,
    prepareStage,
    clock,
    traces,
    currency,
    logger: { info: (fields) => void ends.push(fields), warn: log, error: log },
    maxLiveCalls: 10_000,
  });
  const create = (changes: PlanChanges = {}) => {
    const plan = testPlan(changes);
    calls.startCall(plan, { createdAt: new Date(WORLD_CREATED_MS) });
    return plan;
  };
  const join = async (
    callId: string,
    experimentalMessages: readonly string[] = [],
    transportOptions: FakeTransportOptions = {},
  ) => {
    let transport: FakeTransport | null = null;
    const outcome = await calls.connectCall(
      callId,
      (medium, listener) =>
        (transport = openFakeTransport(listener, { ...medium, aheadMs: 60, ...transportOptions })),
      { clientVersion: "test 1", experimentalMessages },
    );
    return { outcome, transport: transport as FakeTransport | null };
  };
  const joined = async (changes: PlanChanges = {}, experimentalMessages: readonly string[] = []) => {
    const plan = create(changes);
    const { transport } = await join(plan.callId, experimentalMessages);
    if (transport === null) throw new Error("not connected");
    /** Sends speech or silence in real time. */
    const hear = async (ms: number, loud: boolean) => {
      for (let at = 0; at < ms; at += 20) {
        transport.hear(loud ? sine(440, 16_000, 320) : new Int16Array(320));
        await clock.advance(20);
      }
    };
    return { plan, transport, hear };
  };
  return { clock, records, journal, dataConnections, calls, create, join, joined, logged, ends };
}
