/** For every cause in every phase: exactly one end, soon, with the right reason, and nothing left over. */

import nodeProcess from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import { openFakeStt } from "../ports/testing/fake-stt.ts";
import type { CallEngines } from "./call-deps.ts";
import { until, wait, type CallClient } from "./testing/call-client.ts";
import { openCallServer, type CallServer } from "./testing/call-server.ts";
import {
  openBrokenLlm,
  openBrokenTts,
  openFakeEngines,
  openHangingLlm,
  openHangingTts,
} from "./testing/fakes.ts";
import { testPlan, type PlanChanges } from "./testing/plan.ts";

/** Time from a cause to its recorded end. */
const END_LIMIT_MS = 5_000;

/** Time from the recorded end to the close of the socket. */
const CLOSE_LIMIT_MS = 3_000;

const GRACE_MS = 300;

interface Phase {
  readonly engines: () => CallEngines;
  readonly changes: PlanChanges;
  /** Brings the call into the phase. */
  readonly reach: (client: CallClient) => Promise<void>;
}

const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };
const speak = async (client: CallClient) => {
  await wait(200);
  await client.say(600);
  await wait(600);
};

const PHASES: Readonly<Record<string, Phase>> = {
  listening: { engines: () => openFakeEngines(), changes: userFirst, reach: () => wait(200) },
  "the agent speaking": {
    engines: () => openFakeEngines(),
    changes: {},
    reach: (client) => until(() => client.frames.length > 10, "the greeting"),
  },
  "the caller speaking": {
    engines: () => openFakeEngines(),
    changes: userFirst,
    reach: async (client) => {
      client.speak(true);
      await wait(500);
    },
  },
  "an interrupted greeting": {
    engines: () => openFakeEngines(),
    changes: {},
    reach: async (client) => {
      await until(() => client.frames.length > 10, "the greeting");
      client.speak(true);
      await until(() => client.of("playback_clear_buffer").length > 0, "the pause");
    },
  },
  "a recogniser that hangs": {
    engines: () => ({ ...openFakeEngines(), stt: openFakeStt({ broken: "hangs" }) }),
    changes: userFirst,
    reach: speak,
  },
  "a model that hangs": {
    engines: () => ({ ...openFakeEngines(), llm: openHangingLlm() }),
    changes: userFirst,
    reach: speak,
  },
  "a voice that hangs": {
    engines: () => ({ ...openFakeEngines(), tts: openHangingTts(false) }),
    changes: {},
    reach: () => wait(300),
  },
  "a voice that hangs in the middle": {
    engines: () => ({ ...openFakeEngines(), tts: openHangingTts(true) }),
    changes: {},
    reach: () => wait(600),
  },
};

interface Cause {
  readonly reason: string;
  readonly act: (server: CallServer, client: CallClient, callId: string) => void;
  readonly changes?: PlanChanges;
}

const CAUSES: Readonly<Record<string, Cause>> = {
  "the client hangs up": {
    reason: "hangup",
    act: (_server, client) => {
      client.socket.close(1000);
    },
  },
  "the client closes without a code": {
    reason: "hangup",
    act: (_server, client) => {
      client.socket.close();
    },
  },
  "the client vanishes": {
    reason: "connection_error",
    act: (_server, client) => {
      client.socket.terminate();
    },
  },
  "the call is ended from outside": {
    reason: "hangup",
    act: (server, _client, callId) => {
      server.calls.endCall(callId);
    },
  },
  "the client asks for a silent end": {
    reason: "agent_hangup",
    act: (_server, client) => {
      client.send({ type: "hang_up" });
    },
  },
  "voice detection is lost": {
    reason: "system_error",
    act: () => {},
  },
};

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of nodeProcess.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Leaves no timer. */
async function closeCodeOf(client: CallClient): Promise<number | "still open"> {
  const late = Promise.withResolvers<"still open">();
  const timer = setTimeout(() => late.resolve("still open"), CLOSE_LIMIT_MS);
  const closed = await Promise.race([client.closed, late.promise]);
  clearTimeout(timer);
  return closed;
}

const servers: CallServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe.each(Object.entries(PHASES))("while %s", (_name, phase) => {
  test("every cause ends the call once and soon", async () => {
    const timersBefore = resources()["Timeout"] ?? 0;
    await Promise.all(
      Object.entries(CAUSES).map(async ([name, cause]) => {
        const engines = phase.engines();
        const server = await openCallServer({ engines });
        servers.push(server);
        const changes = { recordingEnabled: true, ...phase.changes };
        const plan = testPlan({ ...changes, turnTaking: { reconnectGraceMs: GRACE_MS } });
        server.start(plan);
        const client = server.connect(plan.callId);
        await client.opened();
        client.start();
        await phase.reach(client);
        const early = server.records.ends.length;
        const fromMs = performance.now();
        cause.act(server, client, plan.callId);
        if (name === "voice detection is lost") (engines as ReturnType<typeof openFakeEngines>).vad.lose();
        await until(() => server.calls.count() === 0, `${name}: the end`, END_LIMIT_MS + 2_000);
        const inTime = (server.records.ends[0]?.atMs ?? Number.POSITIVE_INFINITY) - fromMs < END_LIMIT_MS;
        const closed = await closeCodeOf(client);
        client.stop();
        await wait(300);
        const reasons = server.records.ends.map(({ record }) => record.reason);
        const left = server.recordings.openFiles() + server.sockets() + server.records.faults.length;
        expect({ name, early, reasons, inTime, closed: typeof closed, left }).toEqual({
          name,
          early: 0,
          reasons: [cause.reason],
          inTime: true,
          closed: "number",
          left: 0,
        });
        await server.close();
      }),
    );
    servers.length = 0;
    await until(() => (resources()["Timeout"] ?? 0) <= timersBefore, "all timers gone", 5_000);
  });
});

test("a call that nobody joins ends as unjoined", async () => {
  const server = await openCallServer();
  servers.push(server);
  server.start(testPlan({ joinTimeoutMs: 200 }));
  await until(() => server.calls.count() === 0, "the end", END_LIMIT_MS);
  expect(server.records.ends).toMatchObject([{ record: { reason: "unjoined", joinedAt: null } }]);
});

test("a call that is too long ends with timeout", async () => {
  const server = await openCallServer();
  servers.push(server);
  const plan = testPlan({ maxDurationMs: 700 });
  server.start(plan);
  const client = server.connect(plan.callId);
  await client.opened();
  client.start();
  expect(await client.closed).toBe(1000);
  await until(() => server.calls.count() === 0, "the end", END_LIMIT_MS);
  expect(server.records.ends).toMatchObject([{ record: { reason: "timeout" } }]);
});

test("a throw inside the call ends it with system_error and keeps its events", async () => {
  const engines = openFakeEngines();
  const tts = {
    ...engines.tts,
    speaks: () => {
      throw new Error("a mistake");
    },
  };
  const server = await openCallServer({ engines: { ...engines, tts } });
  servers.push(server);
  const plan = testPlan({ stage: { languageHint: "de" } });
  const healthy = testPlan();
  server.start(plan);
  server.start(healthy);
  const client = server.connect(plan.callId);
  const other = server.connect(healthy.callId);
  expect(await client.closed).toBe(1011);
  await until(() => server.records.ends.length === 1, "the end", END_LIMIT_MS);
  expect(server.records.ends).toMatchObject([{ callId: plan.callId, record: { reason: "system_error" } }]);
  expect(server.records.faults.length).toBe(1);
  expect(server.records.faults[0]?.record.error).toContain("a mistake");
  expect(server.records.faults[0]?.record.log.events.map(({ type }) => type)).toContain("joined");
  await until(() => other.frames.length > 10, "the neighbour's greeting");
});

// They mostly wait.
test.concurrent.for([
  ["recogniser", "stt.failed", () => ({ ...openFakeEngines(), stt: openFakeStt({ broken: "fails" }) })],
  [
    "recogniser that does not open",
    "stt.failed",
    () => ({ ...openFakeEngines(), stt: openFakeStt({ opensNot: true }) }),
  ],
  ["model", "llm.failed", () => ({ ...openFakeEngines(), llm: openBrokenLlm() })],
  ["voice", "tts.failed", () => ({ ...openFakeEngines(), tts: openBrokenTts() })],
] as const)(
  "a failing %s is reported and finally ends the call",
  async ([, eventType, engines], { onTestFinished }) => {
    const server = await openCallServer({ engines: engines() });
    onTestFinished(() => server.close());
    const plan = testPlan({
      ...userFirst,
      turnTaking: { engineFailureLimitMs: 1_500, engineRetryDelayMs: 100 },
    });
    server.start(plan);
    const client = server.connect(plan.callId);
    await client.opened();
    client.start();
    const endMs = performance.now() + 20_000;
    while (server.records.ends.length === 0 && performance.now() < endMs) {
      await client.say(500);
      await wait(900);
    }
    expect(server.records.events.map(({ event }) => event.type)).toContain(eventType);
    expect(server.records.ends.map(({ record }) => record.reason)).toEqual(["system_error"]);
  },
);
