/** The assembled service with SIP over UDP, TCP and TLS on the loopback address, and engines with recorded speech. */

import assert from "node:assert/strict";
import { vi } from "vitest";
import { aligned, type Recorded } from "../../src/media/testing/likeness.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import { openRunningService, type RunningService } from "../running-service.ts";
import { makeAuthority, type TestAuthority } from "./certificates.ts";
import { openRecordedEngines, SPEECH_RATE_HZ, type RecordedEngines } from "./recorded-engines.ts";

/** Reached only when something is wrong. */
export const PATIENT = { timeout: 60_000, interval: 50 };
export const CALLER = readSpeechFixture("goforward.wav");
export const AGENT = readSpeechFixture("jfk.wav").slice(0, 2 * SPEECH_RATE_HZ);
/** Least likeness of what was sent and what was heard. Recordings of other words have at most 0.77. */
export const LIKE = 0.79;
/** Samples: half of what the caller says. */
const LEAST_SPOKEN = 0.7 * SPEECH_RATE_HZ;
const QUIET = 600;
const SAY_AGAIN_MS = 10_000;

export const recording = (samples: Int16Array): Recorded => ({ samples, rateHz: SPEECH_RATE_HZ });

/** Without the silence at both ends. */
function spokenPart(samples: Int16Array): Int16Array {
  const first = samples.findIndex((sample) => Math.abs(sample) > QUIET);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > QUIET);
  return first === -1 ? new Int16Array() : samples.slice(first, last);
}

export class SipRunning {
  readonly service: RunningService;
  readonly authority: TestAuthority;
  readonly recorded: RecordedEngines;
  readonly domain: string;
  readonly ports: Readonly<Record<"udp" | "tcp" | "tls", number>>;

  constructor(
    service: RunningService,
    parts: Pick<SipRunning, "authority" | "recorded" | "domain" | "ports">,
  ) {
    this.service = service;
    this.authority = parts.authority;
    this.recorded = parts.recorded;
    this.domain = parts.domain;
    this.ports = parts.ports;
  }

  async configure(config: object): Promise<void> {
    const changed = await this.service.ask("PATCH", "/api/sip", config);
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
  }

  async newAgent(template: object = {}): Promise<string> {
    const callTemplate = { systemPrompt: "Answer.", firstSpeakerSettings: { user: {} }, ...template };
    const made = await this.service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.agentId;
  }

  /** Of a call that came in. */
  async callOf(agentId: string): Promise<string> {
    const callId = await vi.waitFor(async () => {
      const page = await this.service.get<{ results: { callId: string }[] }>(`/api/agents/${agentId}/calls`);
      const found = page.results[0]?.callId;
      if (found === undefined) throw new Error("the agent has no call");
      return found;
    }, PATIENT);
    this.service.countCall();
    return callId;
  }

  async dial(to: string, settings: object = {}, credentials: object = {}): Promise<string> {
    const outgoing = { to, from: "+4930654321", ...credentials };
    return (await this.service.makeCall({ medium: { sip: { outgoing } }, ...settings })).callId;
  }

  /** The agent has said something as a whole. */
  async agentHasSpoken(callId: string): Promise<void> {
    await vi.waitFor(async () => {
      const roles = (await this.service.messages(callId)).map(({ role }) => role);
      assert.ok(roles.includes("MESSAGE_ROLE_AGENT"), "the agent has said nothing");
    }, PATIENT);
  }

  /**
   * The far side has heard the agent. Each time that a busy machine has torn it apart, the agent says it again.
   *
   * @param heard everything so far
   */
  async agentIsHeard(callId: string, heard: () => Recorded): Promise<void> {
    await this.agentHasSpoken(callId);
    let askedAtMs = performance.now();
    await vi.waitFor(async () => {
      const like = aligned(recording(AGENT), heard());
      if (like > LIKE) return;
      if (performance.now() - askedAtMs >= SAY_AGAIN_MS) {
        askedAtMs = performance.now();
        const message = { type: "forced_agent_message", content: "Again." };
        const sent = await this.service.ask("POST", `/api/calls/${callId}/send_data_message`, message);
        assert.equal(sent.status, 204);
      }
      throw new Error(`what was heard has a likeness of ${String(like)}`);
    }, PATIENT);
  }

  async events(callId: string, type: string): Promise<readonly object[]> {
    return (await this.service.events(callId)).filter((event) => event.type === type);
  }

  /** The recogniser has got what the caller says. It is said again where a busy machine has torn it apart. */
  async hears(call: { readonly say: (samples: Int16Array) => void }): Promise<void> {
    call.say(CALLER);
    await this.hasHeardTheCaller(() => call.say(CALLER));
  }

  /** What the far side says is one more message of the call. It is said again where a busy machine has torn it apart. */
  async understands(callId: string, before: number, say: () => void = () => undefined): Promise<void> {
    let saidAtMs = -SAY_AGAIN_MS;
    await vi.waitFor(async () => {
      if ((await this.userMessages(callId)) > before) return;
      if (performance.now() - saidAtMs >= SAY_AGAIN_MS) {
        saidAtMs = performance.now();
        say();
      }
      throw new Error("nothing was understood");
    }, PATIENT);
  }

  async userMessages(callId: string): Promise<number> {
    return (await this.service.messages(callId)).filter(({ role }) => role === "MESSAGE_ROLE_USER").length;
  }

  /** The recogniser has got what the caller said. */
  async hasHeardTheCaller(sayAgain: () => void = () => undefined): Promise<void> {
    let saidAtMs = performance.now();
    await vi.waitFor(() => {
      // It is asked again while the caller speaks, so some of them are short.
      const spoken = this.recorded.heard.map(spokenPart).filter(({ length }) => length > LEAST_SPOKEN);
      const most = Math.max(0, ...spoken.map((part) => aligned(recording(part), recording(CALLER))));
      if (most <= LIKE && performance.now() - saidAtMs >= SAY_AGAIN_MS) {
        saidAtMs = performance.now();
        sayAgain();
      }
      assert.ok(
        most > LIKE,
        `${String(spoken.length)} utterances, with a likeness of ${String(most)} at most`,
      );
    }, PATIENT);
  }

  async close(): Promise<void> {
    await this.service.close();
    this.authority.remove();
  }
}

export async function openSipRunning(): Promise<SipRunning> {
  const recorded = await openRecordedEngines(AGENT);
  const authority = makeAuthority();
  const own = authority.issue("service", ["DNS:localhost", "IP:127.0.0.1"]);
  const sip = {
    bind: "127.0.0.1",
    port: 0,
    tlsPort: 0,
    certificate: { path: own.certificateFile, keyPath: own.keyFile },
    authorityFile: authority.authorityFile,
    announcedAddress: null,
  };
  const changes = { sip, sipHost: "sip.test", allowPrivateTargets: true as const };
  const service = await openRunningService(changes, recorded.engines);
  const line = service.linesLogged.find((text) => text.includes("sip: udp")) ?? "";
  const portOf = (name: string): number =>
    Number(new RegExp(`${name} 127\\.0\\.0\\.1 port (\\d+)`).exec(line)?.[1]);
  const ports = { udp: portOf("udp"), tcp: portOf("tcp"), tls: portOf("tls") };
  const { domain } = await service.get<{ domain: string }>("/api/sip");
  const running = new SipRunning(service, { authority, recorded, domain, ports });
  await running.configure({ allowedCidrRanges: ["127.0.0.0/8"], allowAllAgents: true });
  return running;
}
