/** A caller in a real browser: a page on loopback, a microphone that plays a file, and a tone detector. */

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { wavHeader } from "../src/media/wav.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
export const HAS_BROWSER = CHROMIUM !== undefined;

const MICROPHONE_RATE_HZ = 16_000;

/** What runs in the page. Audio is collected at the rate of its context, in windows of 2048 samples. */
export const CALLER_PAGE = `<!doctype html><meta charset="utf-8"><script>
const caller = { messages: [], windows: [], channelState: "none", location: null, link: null, rate: 0 };
async function call(url) {
  const microphone = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  });
  const peer = (caller.peer = new RTCPeerConnection());
  const channel = (caller.channel = peer.createDataChannel("messages", { ordered: true }));
  channel.onopen = channel.onclose = () => (caller.channelState = channel.readyState);
  channel.onmessage = ({ data }) => caller.messages.push(JSON.parse(data));
  peer.addTrack(microphone.getTracks()[0], microphone);
  peer.ontrack = ({ streams: [stream] }) => listen(stream);
  await peer.setLocalDescription();
  return await offer(url);
}
async function offer(url) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/sdp" },
    body: caller.peer.localDescription.sdp,
  });
  if (answer.status !== 201) return answer.status;
  caller.location = answer.headers.get("Location");
  caller.link = answer.headers.get("Link");
  await caller.peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  return 201;
}
function listen(stream) {
  const element = (caller.element = new Audio());
  element.srcObject = stream;
  element.muted = true;
  element.play();
  const context = (caller.context = new AudioContext());
  caller.rate = context.sampleRate;
  const ears = context.createScriptProcessor(2048, 1, 1);
  context.createMediaStreamSource(stream).connect(ears);
  ears.connect(context.destination);
  ears.onaudioprocess = ({ inputBuffer }) => {
    const samples = inputBuffer.getChannelData(0);
    let all = 0;
    for (const sample of samples) all += sample * sample;
    caller.windows.push({ all: all / samples.length, samples: Array.from(samples) });
    if (caller.windows.length > 600) caller.windows.shift();
  };
}
function tone(hz) {
  let best = 0;
  for (const { all, samples } of caller.windows) {
    if (all < 1e-4) continue;
    let re = 0, im = 0;
    samples.forEach((value, i) => {
      const angle = (2 * Math.PI * hz * i) / caller.rate;
      re += value * Math.cos(angle);
      im -= value * Math.sin(angle);
    });
    best = Math.max(best, (2 * (re * re + im * im)) / samples.length ** 2 / all);
  }
  return best;
}
async function restart() {
  const { peer } = caller;
  peer.restartIce();
  await peer.setLocalDescription();
  const lines = peer.localDescription.sdp.split("\\r\\n");
  const first = lines.findIndex((line) => line.startsWith("m=audio"));
  const fragment = lines.filter((line, i) => /^a=ice-(ufrag|pwd):/.test(line) || i === first);
  const answer = await fetch(caller.location, {
    method: "PATCH",
    headers: { "Content-Type": "application/trickle-ice-sdpfrag" },
    body: fragment.slice(0, 3).join("\\r\\n") + "\\r\\n",
  });
  if (answer.status !== 200) return answer.status;
  const text = await answer.text();
  const [, ufrag] = /a=ice-ufrag:(\\S+)/.exec(text), [, pwd] = /a=ice-pwd:(\\S+)/.exec(text);
  const sdp = peer.currentRemoteDescription.sdp
    .replaceAll(/a=ice-ufrag:\\S+/g, "a=ice-ufrag:" + ufrag)
    .replaceAll(/a=ice-pwd:\\S+/g, "a=ice-pwd:" + pwd);
  await peer.setRemoteDescription({ type: "answer", sdp });
  return 200;
}
async function packetsReceived() {
  for (const report of (await caller.peer.getStats()).values())
    if (report.type === "inbound-rtp") return report.packetsReceived;
  return 0;
}
</script>`;

export interface BrowserCaller {
  readonly page: Page;
  /** Posts the offer to the join URL; returns the status of the answer. */
  call(joinUrl: string): Promise<number>;
  messages(): Promise<readonly { readonly type: string; readonly [field: string]: unknown }[]>;
  /** The largest share that a tone has of any loud window of what was heard. */
  tone(hz: number): Promise<number>;
  run<Value>(script: string): Promise<Value>;
}

export interface BrowserCallers {
  open(): Promise<BrowserCaller>;
  close(): Promise<void>;
}

/** `speech` is what every microphone plays, once, in 16 kHz. */
export async function openBrowserCallers(speech: Int16Array): Promise<BrowserCallers> {
  const folder = await mkdtemp(join(tmpdir(), "parley-browser-"));
  const file = join(folder, "microphone.wav");
  const bytes = new Uint8Array(speech.buffer, speech.byteOffset, speech.byteLength);
  const header = wavHeader({ sampleRateHz: MICROPHONE_RATE_HZ, channels: 1 }, bytes.byteLength);
  await writeFile(file, Buffer.concat([header, bytes]));
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(CALLER_PAGE);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const browser = await launch(file);
  return {
    open: () => openCaller(browser, `http://127.0.0.1:${String(port)}/`),
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function launch(microphone: string): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? "",
    headless: true,
    args: [
      "--no-sandbox",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      "--autoplay-policy=no-user-gesture-required",
      "--allow-loopback-in-peer-connection",
    ],
  });
}

async function openCaller(browser: Browser, url: string): Promise<BrowserCaller> {
  const page = await browser.newPage();
  await page.goto(url);
  const run = <Value>(script: string): Promise<Value> => page.evaluate<Value>(script);
  return {
    page,
    run,
    call: (joinUrl) => run(`call(${JSON.stringify(joinUrl.replace(/^ws/, "http"))})`),
    messages: () => run("caller.messages"),
    tone: (hz) => run(`tone(${String(hz)})`),
  };
}
