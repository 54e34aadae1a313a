import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import {
  describeTtsConformance,
  durationMsOf,
  samplesOf,
  ttsRequest,
} from "../../ports/testing/tts-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { spawnEspeak, type EspeakChild } from "./espeak-process.ts";
import { MAX_TEXT_CHARS, openEspeakTts, type EspeakTtsOptions } from "./tts-espeak.ts";

const engines: TtsEngine[] = [];
const children: EspeakChild[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  const left = children.splice(0).filter((child) => child.exitCode === null && child.signalCode === null);
  if (left.length > 0) throw new Error(`${String(left.length)} processes outlived their engine`);
});

function tracked(child: EspeakChild): EspeakChild {
  children.push(child);
  return child;
}

/** A process that has no time on a busy machine does not hang. */
const PATIENT = { startTimeoutMs: 100_000, pieceTimeoutMs: 100_000 };

async function open(options: EspeakTtsOptions = {}) {
  const mine: EspeakChild[] = [];
  const engine = await openEspeakTts({
    ...options,
    limits: { ...PATIENT, ...options.limits },
    spawnChild: () => {
      const child = tracked((options.spawnChild ?? spawnEspeak)());
      mine.push(child);
      return child;
    },
  });
  engines.push(engine);
  return { engine, children: mine };
}

/** A process that runs `body` for each `speak` frame, after a fair start. `send(kind, piece, bytes)` answers. */
function puppet(body: string): () => EspeakChild {
  const program = `
    const send = (kind, piece, bytes) => {
      const head = Buffer.alloc(9);
      head.writeUInt32LE(5 + bytes.length, 0);
      head[4] = kind;
      head.writeUInt32LE(piece, 5);
      process.stdout.write(Buffer.concat([head, bytes]));
    };
    const voices = [{ identifier: "en-US", languages: [{ name: "en-us", priority: 1 }] }];
    send(2, 0, Buffer.from(JSON.stringify({ sampleRateHz: 22050, voices })));
    process.stdin.on("end", () => process.exit(0));
    process.stdin.on("data", (data) => { const piece = data.readUInt32LE(5); ${body} });
  `;
  return () => spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "pipe"], env: {} });
}

const say = (engine: TtsEngine, text: string) => collect(engine.synthesize(ttsRequest(text), neverAborted()));

describeTtsConformance("espeak-ng", {
  open: async () => (await open()).engine,
  language: "en",
  // Its voices hold noise, so the same sentence differs by a few samples.
  lengthTolerance: 0.01,
  openHanging: async () => {
    const { engine, children: mine } = await open();
    for (const child of mine) child.kill("SIGSTOP");
    return { engine, reached: Promise.resolve() };
  },
  openFailing: async () => (await open({ spawnChild: puppet("process.exit(3)") })).engine,
});

describe("the voice of espeak-ng", () => {
  it("names the words of a long text with odd characters where they are", async () => {
    const { engine } = await open();
    const sentence = "Grüße 😀 & <b>welcome</b> to the naïve café. ";
    const text = sentence.repeat(20);
    const { parts, error } = await say(engine, text);
    expect(error).toBeNull();
    const words = parts.flatMap((part) => (part.type === "word" ? [text.slice(part.textOffset)] : []));
    for (const word of ["Grüße", "welcome", "naïve", "café"])
      expect(words.filter((at) => at.startsWith(word))).toHaveLength(20);
    expect(durationMsOf(parts)).toBeGreaterThan(20_000);
    for (const part of parts) expect(part).not.toMatchObject({ samples: { length: 0 } });
  });

  it("speaks other languages, and English for one that it lacks", async () => {
    const { engine } = await open();
    expect(["de", "fr-CA", "zh-TW", "tlh"].map((tag) => engine.speaks(tag))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const lengths = [];
    for (const language of [null, "tlh", "de", "fr"]) {
      const request = ttsRequest("Information 1999", { language });
      lengths.push(durationMsOf((await collect(engine.synthesize(request, neverAborted()))).parts));
    }
    const [english = 0, klingon = 0, german = 0, french = 0] = lengths;
    expect(Math.abs(english - klingon)).toBeLessThan(20);
    expect(Math.abs(english - german)).toBeGreaterThan(20);
    expect(Math.abs(german - french)).toBeGreaterThan(20);
  });

  it("pauses after a sentence", async () => {
    const { engine } = await open();
    const samples = samplesOf((await say(engine, "Yes.")).parts);
    expect(samples.subarray(-2_205).every((sample) => sample === 0)).toBe(true);
  });

  it("lets a short request through while a long one is spoken", async () => {
    const { engine } = await open();
    const order: string[] = [];
    const long = collect(
      engine.synthesize(ttsRequest("This goes on and on, and on and on again. ".repeat(100)), neverAborted()),
    ).then(() => order.push("long"));
    const short = say(engine, "Yes.").then(() => order.push("short"));
    await Promise.all([long, short]);
    expect(order).toEqual(["short", "long"]);
  });

  it("refuses a text that is too long", async () => {
    const { engine } = await open();
    const { error } = await say(engine, "a".repeat(MAX_TEXT_CHARS + 1));
    expect(error?.message).toBe("text of 5001 characters is over 5000");
  });
});

describe("an espeak-ng process that misbehaves", () => {
  it("is started again after it was killed; who was speaking hears of it, who waited does not", async () => {
    const log: string[] = [];
    const { engine, children: mine } = await open({ log: (line) => log.push(line) });
    mine[0]?.kill("SIGSTOP");
    const speaking = say(engine, "One.");
    const waiting = say(engine, "Two.");
    mine[0]?.kill("SIGKILL");
    expect((await speaking).error?.message).toContain("SIGKILL");
    const { parts, error } = await waiting;
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBeGreaterThan(0);
    expect(mine).toHaveLength(2);
    expect(log).toEqual(["the espeak-ng process ended (SIGKILL); starting it again"]);
  });

  it("is killed and started again when it hangs", async () => {
    const { engine, children: mine } = await open({ limits: { pieceTimeoutMs: 5_000 } });
    mine[0]?.kill("SIGSTOP");
    expect((await say(engine, "One.")).error?.message).toBe("the espeak-ng process does not respond");
    expect((await say(engine, "Two.")).error).toBeNull();
    expect(mine).toHaveLength(2);
  });

  it.each([
    [
      "crashes with words",
      'process.stderr.write("x".repeat(9000) + " bad day"); process.exitCode = 7; process.exit()',
      /ended \(7\): x{492} bad day$/,
    ],
    ["sends garbage", 'process.stdout.write("oops, not a frame")', /not understood/],
    ["sends an unknown frame", "send(99, piece, Buffer.alloc(0))", /not understood/],
    ["sends half a word", "send(4, piece, Buffer.alloc(3))", /not understood/],
    ["refuses", 'send(6, piece, Buffer.from("no such voice"))', /^no such voice$/],
    ["gives up", 'send(7, 0, Buffer.from("out of memory"))', /^out of memory$/],
  ])("%s: the request throws", async (_name, body, message) => {
    const { engine } = await open({ spawnChild: puppet(body) });
    expect((await say(engine, "One.")).error?.message).toMatch(message);
  });

  it("is not waited for forever when it cannot be restarted", async () => {
    let starts = 0;
    const { engine } = await open({
      limits: { restartDelayMs: 1, maxRestartDelayMs: 20 },
      spawnChild: () => {
        starts += 1;
        return starts === 1 ? spawnEspeak() : spawnEspeak("@parley/no-such-package");
      },
    });
    const first = children.at(-1);
    first?.kill("SIGKILL");
    if (first !== undefined) await once(first, "close");
    expect((await say(engine, "One.")).error?.message).toContain("is not installed");
  });

  it.each([
    [
      "the package is missing",
      () => spawnEspeak("@parley/no-such-package"),
      "no-such-package is not installed",
    ],
    [
      "the program is missing",
      () => spawn("/no/such/program", [], { stdio: ["pipe", "pipe", "pipe"] }),
      "cannot be started",
    ],
    [
      "it ends at once",
      () => spawn(process.execPath, ["-e", ""], { stdio: ["pipe", "pipe", "pipe"], env: {} }),
      "ended (0)",
    ],
    [
      "it never gets ready",
      () =>
        spawn(process.execPath, ["-e", "process.stdin.resume()"], {
          stdio: ["pipe", "pipe", "pipe"],
          env: {},
        }),
      "did not start",
    ],
  ])("fails to open with a sentence when %s", async (_name, spawnChild, message) => {
    const starting = openEspeakTts({
      spawnChild: () => tracked(spawnChild()),
      limits: { startTimeoutMs: 2_000 },
    });
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toThrow(/npm install --include=optional.*TTS_BASE_URL/);
  });

  it("ends when the service is gone, not by a terminal's signals, and sees none of its environment", async () => {
    const child = tracked(spawnEspeak());
    child.stderr.resume();
    await once(child.stdout, "data");
    const file = `/proc/${String(child.pid)}/environ`;
    expect(process.platform === "linux" ? readFileSync(file, "utf8") : "").toBe("");
    child.kill("SIGTERM");
    child.kill("SIGINT");
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });
});
