/** sipp as the callers: each sends recorded speech as G.711 by RTP, over and over, until its time is over. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeMulaw, MULAW_SILENCE } from "../../src/media/g711.ts";
import { TURN_EVERY_MS } from "../lines/load.ts";
import { LINE_RATE_HZ } from "../lines/recorded.ts";
import { CALLER_ADDRESS, type SipBenchService } from "./service-with-sip.ts";

/** Below the ports that the system gives to connections. */
const SIGNALLING_PORT = 24_600;
/** Beyond the time of its calls. */
const EXIT_SLACK_S = 30;

export interface SippCallers {
  readonly pid: number;
  /** Resolves when all calls are over. @throws when sipp could not be started */
  readonly done: Promise<SippOutcome>;
}

export interface SippOutcome {
  readonly setUpsMs: readonly number[];
  /** Calls that were refused, or that did not end as sipp wanted. */
  readonly failed: number;
  /** What sipp says about the first of them, or about itself; null: nothing. */
  readonly problem: string | null;
}

export interface SippLoad {
  readonly calls: number;
  /** The calls begin evenly within this time. */
  readonly rampMs: number;
  /** Of each call. */
  readonly holdMs: number;
  readonly clip: Int16Array;
}

export async function startSippCallers(service: SipBenchService, load: SippLoad): Promise<SippCallers> {
  const folder = await mkdtemp(join(tmpdir(), "parley-sipp-"));
  await writeFile(join(folder, "speech.ulaw"), turnOf(load.clip));
  await writeFile(join(folder, "calls.xml"), scenarioOf(service.callee, load.holdMs));
  const limitS = Math.ceil((load.rampMs + load.holdMs) / 1_000) + EXIT_SLACK_S;
  const child = spawn("sipp", argumentsOf(service.sipPort, load, limitS), {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const done = ended(child).then(async ({ code, errors }) => {
    const [setUpsMs, failed] = [await setUpsIn(folder), await failedIn(folder)];
    const logs = code === 0 ? "" : await errorsIn(folder);
    await rm(folder, { recursive: true, force: true });
    const problem = code === 0 ? null : `sipp ended with ${String(code)}: ${errors}\n${logs}`;
    // Without figures of its own, sipp has given up as a whole.
    return { setUpsMs, failed: failed ?? load.calls, problem };
  });
  // It is awaited after the window.
  done.catch(() => undefined);
  return { pid: child.pid ?? 0, done };
}

/** The speech and the silence after it: as long as a turn, so that it can be repeated. */
function turnOf(clip: Int16Array): Uint8Array {
  const turn = new Uint8Array((LINE_RATE_HZ * TURN_EVERY_MS) / 1_000).fill(MULAW_SILENCE);
  turn.set(encodeMulaw(clip.subarray(0, turn.length)));
  return turn;
}

function argumentsOf(port: number, { calls, rampMs }: SippLoad, limitS: number): string[] {
  const options: readonly (readonly [string, string])[] = [
    ["-sf", "calls.xml"],
    ["-t", "u1"],
    ["-i", CALLER_ADDRESS],
    ["-mi", CALLER_ADDRESS],
    ["-p", String(SIGNALLING_PORT)],
    ["-m", String(calls)],
    ["-l", String(calls)],
    ["-r", String(calls)],
    ["-rp", String(rampMs)],
    // Response times are measured with this resolution as well.
    ["-timer_resol", "1"],
    ["-rtt_freq", "1"],
    ["-timeout", `${String(limitS)}s`],
  ];
  const target = `${CALLER_ADDRESS}:${String(port)}`;
  return [target, ...options.flat(), "-nostdin", "-trace_rtt", "-trace_stat", "-trace_err", "-timeout_error"];
}

/** The set-up is from the INVITE to the 200. */
function scenarioOf(callee: string, holdMs: number): string {
  const message = (method: string, cseq: number, tag: string, rest: string): string => `<![CDATA[
${method} sip:${callee} SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: "sipp" <sip:sipp@[local_ip]:[local_port]>;tag=[pid]s[call_number]
To: <sip:${callee}>${tag}
Call-ID: [call_id]
CSeq: ${String(cseq)} ${method}
Contact: <sip:sipp@[local_ip]:[local_port]>
Max-Forwards: 70
${rest}
]]>`;
  const sdp = `Content-Type: application/sdp
Content-Length: [len]

v=0
o=sipp 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [rtpstream_audio_port] RTP/AVP 0
a=rtpmap:0 PCMU/8000`;
  const known = "[peer_tag_param]";
  return `<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="calls">
<send retrans="500" start_rtd="1">${message("INVITE", 1, "", sdp)}</send>
<recv response="100" optional="true"></recv>
<recv response="180" optional="true"></recv>
<recv response="200" rtd="1"></recv>
<send>${message("ACK", 1, known, "Content-Length: 0\n")}</send>
<nop><action><exec rtp_stream="speech.ulaw,-1,0"/></action></nop>
<pause milliseconds="${String(holdMs)}"/>
<nop><action><exec rtp_stream="pause"/></action></nop>
<send retrans="500">${message("BYE", 2, known, "Content-Length: 0\n")}</send>
<recv response="200"></recv>
</scenario>
`;
}

async function ended(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString("utf8")));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => {
      reject(new Error(`sipp could not be started (Debian package sip-tester): ${error.message}`));
    });
    child.once("exit", resolve);
  });
  return { code, errors };
}

/** Lines of `-trace_rtt`: time, response time in ms, name. */
async function setUpsIn(folder: string): Promise<number[]> {
  const name = (await readdir(folder)).find((file) => file.endsWith("_rtt.csv"));
  if (name === undefined) return [];
  const lines = (await readFile(join(folder, name), "utf8")).split("\n").slice(1);
  return lines
    .map((line) => Number(line.split(";")[1] ?? ""))
    .filter((ms, index) => lines[index] !== "" && Number.isFinite(ms));
}

/** The last line of `-trace_stat`. Null: sipp has written none. */
async function failedIn(folder: string): Promise<number | null> {
  const name = (await readdir(folder)).find((file) => file.endsWith("_.csv"));
  if (name === undefined) return null;
  const [head = "", ...lines] = (await readFile(join(folder, name), "utf8")).trim().split("\n");
  const count = Number(lines.at(-1)?.split(";")[head.split(";").indexOf("FailedCall(C)")] ?? "");
  return lines.length > 0 && Number.isFinite(count) ? count : null;
}

async function errorsIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith("_errors.log"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.join("\n").slice(0, 1_000);
}
