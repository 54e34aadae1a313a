/**
 * `npm run firefox`: a call from Firefox to the assembled service: heard, recorded, connected again after a change of
 * its network, and left.
 *
 * Firefox makes no connections over loopback addresses, so this program runs in a network namespace of its own, with
 * one interface and no way out. It needs Linux, Firefox, and `unshare` and `ip` of Debian's util-linux and iproute2.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { restOf, startChildService } from "../demo/child-service.ts";
import { until } from "../test/client/speech.ts";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import { type FirefoxCaller, MICROPHONE_TONE_HZ, openFirefoxCaller } from "./firefox-caller.ts";

/** Of the range for documentation (RFC 5737), and only in the namespace. */
const ADDRESS = "192.0.2.9";
const IN_NAMESPACE = "PARLEY_IN_NAMESPACE";
/** Firefox looks for the address of its default route. */
const NETWORK = [
  "set -e",
  "ip link set lo up",
  "ip link add one type veth peer name two",
  `ip addr add ${ADDRESS}/24 dev one`,
  "ip link set two up",
  "ip link set one up",
  "ip route add default dev one",
  'exec "$@"',
].join("\n");
const WAIT_MS = 60_000;
/** Of the received audio, as Firefox counts it; silence has none. */
const AUDIBLE_ENERGY = 1e-3;
/** Without a loudspeaker Firefox plays nothing, so its statistics say what was decoded. */
const RECEIVED_ENERGY = `(async () => {
  for (const report of (await caller.peer.getStats()).values())
    if (report.type === "inbound-rtp") return report.totalAudioEnergy;
  return 0;
})()`;

interface Message {
  readonly type: string;
  readonly role?: string;
  readonly final?: boolean;
}

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly endReason: string | null;
}

/** 0..1: the part that a tone has of a signal. */
function shareOfTone(samples: readonly number[], rateHz: number, hz: number): number {
  let re = 0;
  let im = 0;
  let all = 0;
  for (const [index, sample] of samples.entries()) {
    const angle = (2 * Math.PI * hz * index) / rateHz;
    re += sample * Math.cos(angle);
    im += sample * Math.sin(angle);
    all += sample * sample;
  }
  return (2 * (re * re + im * im)) / samples.length / all;
}

/** The part that the microphone's tone has of half a second in the middle of the caller's side. */
function toneInRecording(bytes: Uint8Array): number {
  const { samples, sampleRateHz } = readWav(bytes);
  const caller = Array.from(samples).filter((_, index) => index % 2 === 0);
  const middle = Math.floor(caller.length / 2);
  return shareOfTone(caller.slice(middle, middle + sampleRateHz / 2), sampleRateHz, MICROPHONE_TONE_HZ);
}

async function checkCall(firefox: FirefoxCaller): Promise<void> {
  const service = await startChildService({
    env: { HOST: "0.0.0.0", WEBRTC_ANNOUNCED_ADDRESS: ADDRESS },
  });
  try {
    const rest = restOf(service);
    const callTemplate = {
      systemPrompt: "You are short.",
      recordingEnabled: true,
      firstSpeakerSettings: { agent: { text: "Good evening, and welcome to this call." } },
    };
    const { agentId } = await rest<{ agentId: string }>("POST", "/api/agents", {
      name: "firefox",
      callTemplate,
    });
    const { callId, joinUrl } = await rest<CallRecord>("POST", `/api/agents/${agentId}/calls`, {
      medium: { webRtc: {} },
    });
    const answers = async (): Promise<number> =>
      ((await firefox.run("caller.messages")) as readonly Message[]).filter(
        ({ type, final, role }) => type === "transcript" && final === true && role === "agent",
      ).length;
    const status = await firefox.run(`call(${JSON.stringify(joinUrl.replace(/^ws/, "http"))})`);
    if (status !== 201) throw new Error(`the offer was answered by ${String(status)}`);
    await until(async () => (await answers()) === 1, "the greeting's transcript", WAIT_MS);
    const isHeard = async (): Promise<boolean> => Number(await firefox.run(RECEIVED_ENERGY)) > AUDIBLE_ENERGY;
    await until(isHeard, "the greeting's sound", WAIT_MS);
    console.log("passed: connected, and heard the greeting");

    const restarted = await firefox.run("restart()");
    if (restarted !== 200) throw new Error(`the restart was answered by ${String(restarted)}`);
    const question = JSON.stringify({ type: "user_text_message", text: "help" });
    await firefox.run(`caller.channel.send(${JSON.stringify(question)})`);
    await until(async () => (await answers()) > 1, "an answer after the restart", WAIT_MS);
    console.log("passed: connected again, and answered");

    await firefox.run("caller.peer.close()");
    const record = (): Promise<CallRecord> => rest<CallRecord>("GET", `/api/calls/${callId}`);
    await until(async () => (await record()).endReason !== null, "the call's end", WAIT_MS);
    const { endReason } = await record();
    if (endReason !== "hangup") throw new Error(`the call ended by ${String(endReason)}`);
    console.log("passed: ended by hangup");

    const headers = { "X-API-Key": service.apiKey };
    const recording = await fetch(`${service.baseUrl}/api/calls/${callId}/recording`, { headers });
    const share = toneInRecording(new Uint8Array(await recording.arrayBuffer()));
    if (share < 0.9) throw new Error(`the tone of the microphone has ${share.toFixed(2)} of its recording`);
    console.log("passed: its microphone is in the recording");
  } finally {
    await service.stop();
  }
}

async function inNamespace(): Promise<number> {
  const child = spawn(
    "unshare",
    ["--map-root-user", "--net", "sh", "-c", NETWORK, "sh", process.execPath, fileURLToPath(import.meta.url)],
    { stdio: "inherit", env: { ...process.env, [IN_NAMESPACE]: "1" } },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

if (process.env[IN_NAMESPACE] === "1") {
  const firefox = await openFirefoxCaller();
  try {
    await checkCall(firefox);
  } finally {
    await firefox.close();
  }
} else {
  process.exitCode = await inNamespace();
}
