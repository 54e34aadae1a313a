/**
 * Calls among those of sipp that measure what they hear, for sipp does not: when each packet comes, and how much longer
 * than without gaps a reply sounds. They speak as the others do.
 */

import type { TransportListener } from "../../src/ports/transport.ts";
import type { LegTransport } from "../../src/transports/rtc/leg.ts";
import { openSipMedia, type SipMedia } from "../../src/transports/sip/media/sip-media.ts";
import { mediaOptions, openLocalRtp } from "../../src/transports/sip/media/testing/sip-phone.ts";
import { openLoopbackAgent } from "../../src/transports/sip/testing/loopback-agent.ts";
import type { SipCall, SipUserAgent } from "../../src/transports/sip/user-agent.ts";
import { TURN_EVERY_MS } from "../lines/load.ts";
import { onPace } from "../lines/pacer.ts";
import { FRAME_MS, LINE_RATE_HZ } from "../lines/recorded.ts";
import { pause } from "../load.ts";
import { CALLER_ADDRESS, type SipBenchService } from "./service-with-sip.ts";

const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1_000;
const SILENT_FRAME = new Int16Array(FRAME_SAMPLES);
/** Of a sample that is heard: the voice of the benchmark has 8,000. */
const AUDIBLE = 500;
/** Silence of so many frames ends a reply; those between its words are shorter. */
const REPLY_GAP_FRAMES = 25;

export interface Heard {
  /** Deviation of the distance between two packets from 20 ms. */
  readonly jitterMs: readonly number[];
  /** Length of each reply from its first to its last audible frame, in ms. */
  readonly repliesMs: readonly number[];
}

export interface ProbeCalls {
  /** What was heard since the last time. */
  take(): Heard;
  /** Calls that were refused, or that the service has ended. */
  lost(): number;
  close(): Promise<void>;
}

/** Opens the calls evenly over one turn, and returns when the last one is answered. */
export async function openProbeCalls(
  service: SipBenchService,
  count: number,
  clip: Int16Array,
): Promise<ProbeCalls> {
  const agent = await openLoopbackAgent({
    invited: (invite) => invite.reject(486),
    logged: () => undefined,
    faulted: (error) => {
      throw error;
    },
  });
  const opened = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await pause((TURN_EVERY_MS * index) / count);
      return openProbe(agent, service, clip);
    }),
  );
  const probes = opened.filter((probe) => probe !== null);
  return {
    lost: () => count - probes.filter(({ isOver }) => !isOver).length,
    take: () => {
      const heard = probes.map((probe) => probe.take());
      return {
        jitterMs: heard.flatMap(({ jitterMs }) => jitterMs),
        repliesMs: heard.flatMap(({ repliesMs }) => repliesMs),
      };
    },
    close: async () => {
      for (const probe of probes) await probe.close();
      await agent.close();
    },
  };
}

/** Null: the call was refused. */
async function openProbe(
  agent: SipUserAgent,
  service: SipBenchService,
  clip: Int16Array,
): Promise<Probe | null> {
  const media = await openSipMedia(mediaOptions(openLocalRtp, { codecs: ["PCMU"] }));
  const { promise: answered, resolve } = Promise.withResolvers<Probe | null>();
  agent.invite(
    {
      to: `sip:${service.callee}`,
      from: `"Probe" <sip:probe@${CALLER_ADDRESS}>`,
      credentials: null,
      outboundProxy: `sip:${CALLER_ADDRESS}:${String(service.sipPort)};lr`,
      offer: media.offer(),
      headers: [],
    },
    {
      progressed: () => undefined,
      failed: ({ status, reason }) => {
        console.log(`  a probe was refused: ${String(status)} ${reason}`);
        void media.close();
        resolve(null);
      },
      answered: (call, answer) => {
        media.accept(answer);
        const probe = new Probe(call, media, clip);
        resolve(probe);
        return {
          offered: (sdp) => media.answer(sdp),
          offerWanted: () => media.offer(),
          answered: (sdp) => media.accept(sdp),
          digit: () => undefined,
          referred: (refer) => refer.reject(603),
          ended: () => probe.over(),
        };
      },
    },
  );
  return answered;
}

class Probe implements TransportListener {
  readonly #call: SipCall;
  readonly #media: SipMedia;
  readonly #transport: LegTransport;
  readonly #stopPacing: () => void;
  readonly #clip: Int16Array;
  readonly #startedMs = performance.now();
  #sent = 0;
  #jitterMs: number[] = [];
  #repliesMs: number[] = [];
  #lastMs: number | null = null;
  isOver = false;
  /** Frames of the reply that is heard, and of the silence after its last audible one. */
  #inReply = 0;
  #silent = 0;

  constructor(call: SipCall, media: SipMedia, clip: Int16Array) {
    this.#call = call;
    this.#media = media;
    this.#clip = clip;
    this.#transport = media.attach(this);
    this.#stopPacing = onPace((nowMs) => this.#pace(nowMs));
  }

  audio(samples: Int16Array): void {
    const atMs = performance.now();
    if (this.#lastMs !== null) this.#jitterMs.push(Math.abs(atMs - this.#lastMs - FRAME_MS));
    this.#lastMs = atMs;
    if (samples.some((sample) => Math.abs(sample) > AUDIBLE)) {
      this.#inReply += 1 + (this.#inReply === 0 ? 0 : this.#silent);
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#inReply === 0 || this.#silent < REPLY_GAP_FRAMES) return;
    this.#repliesMs.push(this.#inReply * FRAME_MS);
    this.#inReply = 0;
  }

  data(): void {}
  problem(): void {}
  digit(): void {}
  played(): void {}
  closed(): void {}

  take(): Heard {
    const heard = { jitterMs: this.#jitterMs, repliesMs: this.#repliesMs };
    this.#jitterMs = [];
    this.#repliesMs = [];
    return heard;
  }

  over(): void {
    this.isOver = true;
    this.#stopPacing();
    this.#transport.hangUp();
  }

  async close(): Promise<void> {
    this.#call.hangUp();
    this.over();
    await this.#media.close();
  }

  #pace(nowMs: number): void {
    const turnFrames = TURN_EVERY_MS / FRAME_MS;
    while (this.#startedMs + this.#sent * FRAME_MS <= nowMs) {
      const at = (this.#sent % turnFrames) * FRAME_SAMPLES;
      const frame = this.#clip.subarray(at, at + FRAME_SAMPLES);
      this.#transport.sendAudio(frame.length === FRAME_SAMPLES ? frame : SILENT_FRAME);
      this.#sent += 1;
    }
  }
}
