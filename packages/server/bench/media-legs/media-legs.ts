/**
 * `npm run bench:media-legs`: CPU of one leg of each kind in a media thread, SIP beside WebRTC: it decodes what it
 * receives and encodes what the main thread gives it, all the time. Nothing else of a call runs. The other sides are a
 * separate process. Options: `--legs 20`, `--seconds 10`, `--only PCMU` for the kinds with this in their names;
 * `--no-page` leaves docs/benchmarks.md alone.
 */

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startMediaThread } from "../../src/app/media-threads/start-media-thread.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import type { Transport, TransportListener } from "../../src/ports/transport.ts";
import { type LegThreads, openLegThreads } from "../../src/transports/rtc/leg-threads.ts";
import type { RtpCodecName } from "../../src/transports/rtc/rtp-media.ts";
import { checkedOffer } from "../../src/transports/rtc/sdp.ts";
import { openSipMedia } from "../../src/transports/sip/media/sip-media.ts";
import { mediaOptions } from "../../src/transports/sip/media/testing/sip-phone.ts";
import { pause } from "../load.ts";
import { publish } from "../report.ts";
import type { FromOtherSides, ToOtherSides } from "./protocol.ts";

const FRAME_MS = 20;
/** Code is compiled, and buffers have grown. */
const WARM_MS = 3_000;
const ANSWER_LIMIT_MS = 20_000;
const OWNER = { callId: "call", accountId: "account" };
const WEBRTC_OPTIONS = { bindAddresses: ["127.0.0.1"], portRange: null, connectLimitMs: 10_000 };

type Kind = { readonly codec: RtpCodecName; readonly isSecure: boolean } | "webRtc";

const KINDS: readonly (readonly [string, Kind])[] = [
  ["SIP, PCMU", { codec: "PCMU", isSecure: false }],
  ["SIP, PCMU, SRTP", { codec: "PCMU", isSecure: true }],
  ["SIP, G.722", { codec: "G722", isSecure: false }],
  ["SIP, Opus", { codec: "opus", isSecure: false }],
  ["SIP, Opus, SRTP", { codec: "opus", isSecure: true }],
  ["WebRTC, Opus", "webRtc"],
];

interface OpenLegs {
  readonly transports: readonly Transport[];
  readonly frames: { heard: number };
  close(): Promise<void>;
}

const { values } = parseArgs({
  options: {
    legs: { type: "string", default: "20" },
    seconds: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    "no-page": { type: "boolean", default: false },
  },
});
const legCount = Math.min(100, Math.max(1, Number(values.legs) || 20));
const measureMs = Math.min(120, Math.max(1, Number(values.seconds) || 10)) * 1_000;
const speech = readSpeechFixture("jfk.wav");

const child: ChildProcess = fork(fileURLToPath(new URL("./other-sides.ts", import.meta.url)));

function tell(message: ToOtherSides): void {
  child.send(message);
}

/** The next message of this type. */
function next<Type extends FromOtherSides["type"]>(
  type: Type,
): Promise<Extract<FromOtherSides, { readonly type: Type }>> {
  return new Promise((resolve, reject) => {
    const look = (message: FromOtherSides): void => {
      if (message.type === "failed") finish(() => reject(new Error(message.detail)));
      if (isOf(message, type)) finish(() => resolve(message));
    };
    const finish = (settle: () => void): void => {
      clearTimeout(late);
      child.off("message", look);
      settle();
    };
    const late = setTimeout(() => finish(() => reject(new Error(`no ${type}`))), ANSWER_LIMIT_MS);
    child.on("message", look);
  });
}

function isOf<Type extends FromOtherSides["type"]>(
  message: FromOtherSides,
  type: Type,
): message is Extract<FromOtherSides, { readonly type: Type }> {
  return message.type === type;
}

async function openLegs(threads: LegThreads, kind: Kind): Promise<OpenLegs> {
  const frames = { heard: 0 };
  const listener: TransportListener = {
    audio: () => (frames.heard += 1),
    data: () => undefined,
    problem: () => undefined,
    digit: () => undefined,
    played: () => undefined,
    closed: () => undefined,
  };
  const transports: Transport[] = [];
  const closings: (() => Promise<void>)[] = [];
  for (let n = 0; n < legCount; n += 1) {
    if (kind === "webRtc") {
      const offered = next("offer");
      tell({ type: "webRtc" });
      const leg = await threads.open(checkedOffer((await offered).sdp), WEBRTC_OPTIONS, OWNER);
      tell({ type: "answer", sdp: leg.answer });
      if (!(await leg.connected)) throw new Error("a WebRTC leg was not connected");
      transports.push(leg.attach({ silenceLimitMs: 30_000 }, listener));
      closings.push(() => leg.close());
    } else {
      const media = await openSipMedia(
        mediaOptions(threads.openRtp, { encryption: kind.isSecure ? "required" : "off" }),
      );
      const answered = next("answer");
      tell({ type: "sip", offer: media.offer(), ...kind });
      media.accept((await answered).sdp);
      transports.push(media.attach(listener));
      closings.push(() => media.close());
    }
  }
  return {
    transports,
    frames,
    close: async () => {
      await Promise.all(closings.map((close) => close()));
      const closed = next("closed");
      tell({ type: "close" });
      await closed;
    },
  };
}

/** Gives every leg a frame of speech every 20 ms, as a call does while its agent speaks. */
function speakAll(transports: readonly Transport[]): () => void {
  let frame = 0;
  const dueMs = performance.now();
  const timer = setInterval(() => {
    while (performance.now() - dueMs >= frame * FRAME_MS) {
      for (const transport of transports) {
        const size = transport.outputSampleRateHz / 50;
        const at = (frame % Math.floor(speech.length / size)) * size;
        transport.sendAudio(speech.subarray(at, at + size));
      }
      frame += 1;
    }
  }, FRAME_MS / 2);
  return () => clearInterval(timer);
}

async function measured(kind: Kind, threads: LegThreads): Promise<{ share: number; heardShare: number[] }> {
  const legs = await openLegs(threads, kind);
  const stop = speakAll(legs.transports);
  await pause(WARM_MS);
  const before = next("counted");
  tell({ type: "count" });
  await before;
  legs.frames.heard = 0;
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  await pause(measureMs);
  const cpu = process.cpuUsage(startCpu);
  const tookMs = performance.now() - startMs;
  const counted = next("counted");
  tell({ type: "count" });
  const due = (legCount * tookMs) / FRAME_MS;
  const heardShare = [legs.frames.heard / due, (await counted).frames / due];
  stop();
  await legs.close();
  return { share: (cpu.user + cpu.system) / 1_000 / tookMs, heardShare };
}

async function measure(): Promise<string> {
  await next("ready");
  const threads = openLegThreads({
    start: startMediaThread,
    maxThreads: 1,
    listener: {
      log: (message) => console.error(message),
      threadLost: () => undefined,
      legFaulty: () => undefined,
    },
  });
  await threads.warm();
  const idleStart = process.cpuUsage();
  await pause(WARM_MS);
  const idle = process.cpuUsage(idleStart);
  const idleShare = (idle.user + idle.system) / 1_000 / WARM_MS;
  const rows: string[] = [];
  for (const [name, kind] of KINDS.filter(([kindName]) => kindName.includes(values.only))) {
    const { share, heardShare } = await measured(kind, threads);
    const perLeg = ((share - idleShare) / legCount) * 100;
    const heard = heardShare.map((part) => `${(part * 100).toFixed(0)} %`).join(" / ");
    rows.push(
      `| ${name} | ${String(legCount)} | ${(share * 100).toFixed(1)} % | ${perLeg.toFixed(2)} % | ${heard} |`,
    );
    console.log(rows.at(-1));
  }
  await threads.close();
  return `| leg | legs | CPU (of one core) | per leg | frames heard, service / other side |
|---|---|---|---|---|
${rows.join("\n")}

The thread, its sockets and codecs, and the main thread's part of moving samples. The other sides run in another process on the same machine.`;
}

try {
  const markdown = await measure();
  if (values["no-page"]) console.log(markdown);
  else await publish("bench:media-legs", markdown);
} finally {
  child.kill();
}
