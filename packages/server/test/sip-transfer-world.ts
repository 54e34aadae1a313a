/** The assembled service and two phones over SIP, for calls that are transferred. */

import nodeProcess from "node:process";
import { expect, vi } from "vitest";
import { MODEL_PATH } from "../src/app/engines.ts";
import { bytesOfSamples } from "../src/media/pcm.ts";
import { initResampler } from "../src/media/resample.ts";
import { wavHeader } from "../src/media/wav.ts";
import { sine } from "../src/media/testing/signals.ts";
import type { LlmEngine } from "../src/ports/llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { openSileroVad } from "../src/providers/vad-silero/vad-silero.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService } from "./running-service.ts";
import { openToolHost } from "./tool-host.ts";
import { openSipPhone, type PhoneCall } from "./sip-phone.ts";

export const PATIENT = { timeout: 60_000, interval: 50 };
const SAID = "Yes, I take the call.";
const LOUD = 1_000;
/** Loud samples of a sentence or of the recording, at 8 kHz: about a tenth of them. */
export const LEAST_LOUD = 500;
export const MUSIC_HZ = 700;

export const loud = (samples: Int16Array): number =>
  samples.reduce((sum, sample) => sum + (Math.abs(sample) > LOUD ? 1 : 0), 0);

/** Takes over where the called person has said so. */
function withAcceptance(llm: LlmEngine): LlmEngine {
  return {
    ...llm,
    close: () => llm.close(),
    async *generate(request, signal) {
      const isConsultation = request.tools.some(({ name }) => name === "acceptTransfer");
      const last = request.messages.findLast(({ role }) => role === "user");
      if (!isConsultation || last?.role !== "user" || !last.text.includes(SAID)) {
        yield* llm.generate(request, signal);
        return;
      }
      yield { type: "tool-call", call: { id: "1", name: "acceptTransfer", arguments: {} } };
      yield { type: "finish", reason: "tool-calls", inputTokens: null, outputTokens: null };
    },
  };
}

export interface Called {
  readonly callId: string;
  readonly line: PhoneCall;
}

/** The agent has said something. */
export const heardBy = (line: PhoneCall): Promise<void> =>
  vi.waitFor(() => expect(loud(line.record.samples())).toBeGreaterThan(LEAST_LOUD), PATIENT);

export const referOf = (line: PhoneCall, nth = 0) =>
  vi.waitFor(() => {
    const refer = line.refers[nth];
    if (refer === undefined) throw new Error("no REFER came");
    return refer;
  }, PATIENT);

export const isOver = (line: PhoneCall): Promise<void> =>
  vi.waitFor(() => expect(line.end).not.toBeNull(), PATIENT);

/** Each hears the recorded speech of the other one. */
export async function talk(one: PhoneCall, other: PhoneCall): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const before = to.record.samples().length;
    speak(from);
    await vi.waitFor(
      () => expect(loud(to.record.samples().subarray(before))).toBeGreaterThan(LEAST_LOUD),
      PATIENT,
    );
  }
}

export function speak(line: PhoneCall): void {
  const speech = readSpeechFixture("goforward.wav");
  line.say(line.rateHz === 8_000 ? speech.filter((_sample, at) => at % 2 === 0) : speech);
}

export type SipTransferWorld = Awaited<ReturnType<typeof openSipTransferWorld>>;

export async function openSipTransferWorld() {
  await initResampler(nodeProcess);
  const vad = await openSileroVad({ modelPath: MODEL_PATH, log: () => undefined });
  const faulty = openFaultyEngines();
  const engines = { ...faulty, vad, stt: openFakeStt({ says: () => SAID }), llm: withAcceptance(faulty.llm) };
  const sip = { bind: "127.0.0.1", port: 0, tlsPort: 0, certificate: null, announcedAddress: null };
  const service = await openRunningService({ sip, sipHost: "sip.test", allowPrivateTargets: true }, engines);
  const line = service.linesLogged.find((text) => text.includes("sip: udp"));
  const port = Number(/udp 127\.0\.0\.1 port (\d+)/.exec(line ?? "")?.[1]);
  const { domain } = await service.get<{ domain: string }>("/api/sip");
  await service.ask("PATCH", "/api/sip", { allowedCidrRanges: ["127.0.0.0/8"], allowAllAgents: true });
  await service.ask("PATCH", "/api/accounts/me/dialling_rules", { allowedPrefixes: ["+49"] });
  const caller = await openSipPhone();
  const colleague = await openSipPhone(["PCMU"]);
  const music = sine(MUSIC_HZ, 8_000, 8_000);
  const wav = Buffer.concat([
    wavHeader({ sampleRateHz: 8_000, channels: 1 }, music.byteLength),
    bytesOfSamples(music),
  ]);
  const host = await openToolHost(({ path }) => (path === "/music.wav" ? { body: wav } : { status: 404 }));
  const target = (): string => `sip:+4930999@127.0.0.1:${String(colleague.port)}`;

  /** A caller who talks with an agent that has both tools, with these parameters. */
  async function phone(
    tool: "coldTransfer" | "warmTransfer" = "coldTransfer",
    parameters: object = {},
  ): Promise<Called> {
    const callTemplate = {
      firstSpeakerSettings: { agent: { text: "Hello, how can I help you today?" } },
      selectedTools: ["coldTransfer", "warmTransfer"].map((toolName) => ({
        toolName,
        parameterOverrides: { target: target(), ...(toolName === tool ? parameters : {}) },
      })),
    };
    const made = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const { agentId } = made.body;
    const line = await caller.call(`sip:agent_${agentId}@${domain}`, port);
    line.takesRefers = true;
    await vi.waitFor(() => expect([line.failure, line.call !== null]).toEqual([null, true]), PATIENT);
    let callId = "";
    await vi.waitFor(async () => {
      const { results } = await service.get<{ results: { callId: string }[] }>(
        `/api/agents/${agentId}/calls`,
      );
      callId = results[0]?.callId ?? "";
      expect(callId).not.toBe("");
    }, PATIENT);
    service.countCall();
    await heardBy(line);
    return { callId, line };
  }

  async function callTool(callId: string, name: string, given: object = {}): Promise<void> {
    const toolCalls = [{ name, arguments: given }];
    const message = { type: "forced_agent_message", content: "One moment.", toolCalls };
    const answer = await service.ask("POST", `/api/calls/${callId}/send_data_message`, message);
    expect(answer.status).toBe(204);
  }

  const resultsOf = async (callId: string): Promise<string[]> =>
    (await service.messages(callId)).flatMap(({ role, text }) =>
      role === "MESSAGE_ROLE_TOOL_RESULT" ? [text] : [],
    );

  const resultIs = (callId: string, text: string): Promise<void> =>
    vi.waitFor(async () => expect((await resultsOf(callId)).at(-1)).toBe(text), PATIENT);

  async function eventOf(callId: string, type: string): Promise<{ readonly extras: unknown }> {
    return vi.waitFor(async () => {
      const found = (await service.events(callId)).findLast((event) => event.type === type);
      if (found === undefined) throw new Error(`no event ${type}`);
      return found;
    }, PATIENT);
  }

  /** The call with the colleague, once the service has made it. */
  async function consultation(callId: string): Promise<string> {
    const { extras } = await eventOf(callId, "sip.consulting");
    service.countCall();
    return (extras as { consultationCallId: string }).consultationCallId;
  }

  const close = async (): Promise<void> => {
    await caller.close();
    await colleague.close();
    await service.close();
    await host.close();
  };
  return {
    service,
    caller,
    colleague,
    host,
    target,
    phone,
    callTool,
    resultsOf,
    resultIs,
    eventOf,
    consultation,
    close,
  };
}
