/** Pages with this library in a real browser, with a microphone that plays a file, and a tone detector. */

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import type { UdpRelays } from "./udp-relays.ts";
import { wavHeader } from "../../src/media/wav.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
export const HAS_BROWSER = CHROMIUM !== undefined;

const MICROPHONE_RATE_HZ = 16_000;
const ENTRY = fileURLToPath(new URL("../../../client/src/index.ts", import.meta.url));

/** Script: `hear` collects sound in windows of 2048 samples, and `tone` finds the largest share of a tone in them. */
export const EARS = `
const windows = [];
function hear(context, stream) {
  const ears = context.createScriptProcessor(2048, 1, 1);
  context.createMediaStreamSource(stream).connect(ears);
  ears.connect(context.destination);
  ears.onaudioprocess = ({ inputBuffer }) => {
    const samples = inputBuffer.getChannelData(0);
    let all = 0;
    for (const sample of samples) all += sample * sample;
    windows.push({ all: all / samples.length, samples: Array.from(samples), rate: context.sampleRate });
    if (windows.length > 600) windows.shift();
  };
  return ears;
}
function tone(hz) {
  let best = 0;
  for (const { all, samples, rate } of windows) {
    if (all < 1e-4) continue;
    let re = 0, im = 0;
    samples.forEach((value, i) => {
      const angle = (2 * Math.PI * hz * i) / rate;
      re += value * Math.cos(angle);
      im -= value * Math.sin(angle);
    });
    best = Math.max(best, (2 * (re * re + im * im)) / samples.length ** 2 / all);
  }
  return best;
}
`;

/** Script of every page of these tests, besides the library. */
export const PAGE = `<!doctype html><meta charset="utf-8"><script type="module">
window.peers = [];
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(settings) {
    super(settings);
    window.peers.push(this);
  }
  // Where the test has ways of its own for UDP, each connection of each description gets one.
  async setRemoteDescription({ type, sdp }) {
    const ways = new Map();
    const lines = [];
    for (const line of sdp.split("\\r\\n")) {
      const fields = line.split(" ");
      if (window.udpRelay && line.startsWith("a=candidate:")) {
        if (!ways.has(fields[5])) ways.set(fields[5], await window.udpRelay(Number(fields[5])));
        fields[5] = ways.get(fields[5]);
      }
      lines.push(fields.join(" "));
    }
    return super.setRemoteDescription({ type, sdp: lines.join("\\r\\n") });
  }
};
import * as parley from "/sdk.js";
${EARS}
const seen = [];
const names = ["state", "status", "transcript", "message", "transport", "audioBlocked", "microphoneLost", "muted", "toolFailed", "over"];
let ears = null;
function listen(call) {
  ears?.disconnect();
  ears = hear(call.outputAnalyser.context, call.outputStream);
}
async function join(url, options = {}) {
  try {
    const call = (window.call = await parley.joinCall(url, options));
    for (const name of names) call.on(name, (value) => seen.push({ name, value: JSON.parse(JSON.stringify(value, plain)) }));
    call.on("transport", () => listen(call));
    listen(call);
    return "joined";
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message, problem: error.problem };
  }
}
const plain = (_key, value) => (value instanceof Error ? { code: value.code, message: value.message } : value);
Object.assign(window, { parley, seen, windows, tone, join });
</script>`;

export interface Seen {
  readonly name: string;
  readonly value: unknown;
}

export interface CallerPage {
  readonly page: Page;
  run<Value>(script: string): Promise<Value>;
  /** "joined", or the error. */
  join(joinUrl: string, options?: string): Promise<unknown>;
  /** Events of the call of one kind, in order. */
  seen<Value>(name: string): Promise<readonly Value[]>;
  /** The largest share that a tone has of any loud window of what was heard. */
  tone(hz: number): Promise<number>;
}

export interface Pages {
  readonly origin: string;
  /** @param relays for the page's UDP */
  open(path?: string, relays?: UdpRelays): Promise<CallerPage>;
  close(): Promise<void>;
}

export interface PageAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PagesOptions {
  /** What every microphone plays, once, in 16 kHz. */
  readonly speech: Int16Array;
  /** More pages and routes, by path; they take precedence. */
  readonly answers?: (path: string, method: string) => Promise<PageAnswer | null>;
  readonly browserArguments?: readonly string[];
  /** Whether sound waits for a gesture, as in a user's browser. */
  readonly needsGesture?: boolean;
}

/** The library as one module, as a bundler of a page makes it. */
export async function bundled(minify = false, entry = ENTRY, external: string[] = []): Promise<string> {
  const resolve = { conditionNames: ["@parley/source", "browser", "import", "default"] };
  const bundle = await rolldown({ input: entry, platform: "browser", external, resolve });
  try {
    const { output } = await bundle.generate({ format: "esm", minify, codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}

export async function openPages(options: PagesOptions): Promise<Pages> {
  const { speech, answers, needsGesture = false } = options;
  const folder = await mkdtemp(join(tmpdir(), "parley-page-"));
  const file = join(folder, "microphone.wav");
  const bytes = new Uint8Array(speech.buffer, speech.byteOffset, speech.byteLength);
  const header = wavHeader({ sampleRateHz: MICROPHONE_RATE_HZ, channels: 1 }, bytes.byteLength);
  await writeFile(file, Buffer.concat([header, bytes]));
  const server = await serve(await bundled(), answers);
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${String(port)}`;
  const browser = await launch(file, needsGesture, options.browserArguments ?? []);
  return {
    origin,
    open: (path = "/", relays) => openPage(browser, origin + path, relays ?? null),
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serve(code: string, answers: PagesOptions["answers"]): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    void (async () => {
      const own = (await answers?.(path, request.method ?? "GET")) ?? null;
      if (own !== null) response.writeHead(200, own.headers).end(own.body);
      else if (path === "/sdk.js") response.setHeader("content-type", "text/javascript").end(code);
      else response.setHeader("content-type", "text/html").end(PAGE);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

function launch(microphone: string, needsGesture: boolean, more: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? "",
    headless: true,
    args: [
      "--no-sandbox",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      ...(needsGesture ? [] : ["--autoplay-policy=no-user-gesture-required"]),
      "--allow-loopback-in-peer-connection",
      ...more,
    ],
  });
}

async function openPage(browser: Browser, url: string, relays: UdpRelays | null): Promise<CallerPage> {
  const page = await browser.newPage();
  if (relays !== null) await page.exposeFunction("udpRelay", (port: number) => relays.to(port));
  await page.goto(url);
  const run = <Value>(script: string): Promise<Value> => page.evaluate<Value>(script);
  return {
    page,
    run,
    join: (joinUrl, options = "{}") => run(`join(${JSON.stringify(joinUrl)}, ${options})`),
    seen: async <Value>(name: string) =>
      (await run<Seen[]>("seen")).filter((one) => one.name === name).map(({ value }) => value as Value),
    tone: (hz) => run(`tone(${String(hz)})`),
  };
}
