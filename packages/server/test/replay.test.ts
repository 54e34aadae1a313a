import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { fixtureOf, isFixtureName } from "../replay/fixture.ts";
import { readLog } from "../replay/read-log.ts";
import { replayLog, type ReplayedStep } from "../replay/run.ts";
import { describeStep } from "../replay/describe.ts";
import { formatEvents, formatNote } from "../src/call/event-lines.ts";
import { storedPlan } from "../src/plan/stored-plan.ts";
import { joinedCall } from "../src/call/testing/scenario.ts";
import { parseLog } from "./golden/event-log.ts";

const folder = mkdtempSync(join(tmpdir(), "replay-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function talk() {
  const call = joinedCall();
  call.says("What time is it?").run(6_000).post({ type: "transportHungUp" });
  return call;
}

/** The log as the service returns it. */
function download(call = talk()): string {
  return `${JSON.stringify({ plan: storedPlan(call.state.plan) })}\n${formatEvents(call.events)}`;
}

function command(text: string, ...options: string[]): Promise<{ code: number; out: string; err: string }> {
  const file = join(folder, "log.ndjson");
  writeFileSync(file, text);
  const program = fileURLToPath(new URL("../replay/replay.ts", import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [program, file, ...options], (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
    });
  });
}

describe("replay", () => {
  it("gives the effects and the state that the call had", () => {
    const call = talk();
    const steps: ReplayedStep[] = [];
    const { broken, last } = replayLog(readLog(download(call)), (step) => steps.push(step));
    expect(broken).toBe(0);
    expect(last).toEqual(call.state);
    const effects = steps.flatMap((step) => step.effects);
    expect(JSON.stringify(effects)).toBe(JSON.stringify(call.effects.map(({ value }) => value)));
  });

  it("passes from one process to the next, without a broken invariant", () => {
    const lost = joinedCall();
    lost.says("What time is it?").run(2_000);
    const call = lost.resumed(3_000).run(8_000);
    call.post({ type: "transportHungUp" });
    const text = download(lost) + formatEvents(call.events);
    const { broken, last } = replayLog(readLog(text), () => undefined);
    expect(broken).toBe(0);
    expect(last).toEqual(call.state);
  });

  it("tells of every step but voice scores that change nothing", () => {
    const lines: string[] = [];
    replayLog(readLog(download()), (step) => lines.push(...describeStep(step, false)));
    expect(lines).toContain("    0.000 s  joined");
    expect(lines.some((line) => line.includes("~ turn: quiet → speaking"))).toBe(true);
    expect(lines.some((line) => line.includes("→ endCall reason=hangup"))).toBe(true);
    expect(lines.filter((line) => line.includes("voiceScored")).length).toBeLessThan(30);
  });

  it("makes a fixture that reads back to the same events", () => {
    const call = talk();
    const log = readLog(download(call));
    const steps: ReplayedStep[] = [];
    replayLog(log, (step) => steps.push(step));
    const text = fixtureOf("a-call", log, steps);
    expect(parseLog(text).steps.map(({ event }) => event)).toEqual(call.events);
    expect(readLog(text).events).toEqual(call.events);
    expect(["a-call", "a", "x-1-y"].every(isFixtureName)).toBe(true);
    expect(["", "../a", "A", "a--b", "a/b", "a.b"].some(isFixtureName)).toBe(false);
  });

  it("says which line cannot be read", () => {
    expect(() => readLog("")).toThrow("line 1");
    expect(() => readLog('{"events":[]}')).toThrow("line 1 is not the plan of a call");
    expect(() => readLog('{"plan":{"planVersion":1}}')).toThrow("line 1: a plan of version 1");
    expect(() => readLog(`${download()}nonsense\n`)).toThrow(/^line \d+: /);
    expect(readLog(`${download()}${formatNote("it ends here")}`).notes).toEqual(["it ends here"]);
  });
});

describe("the command", () => {
  it("prints the call and ends with 0", async () => {
    const { code, out, err } = await command(download());
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain("every invariant holds");
    expect(out).toContain('ended as: {"kind":"ended","reason":"hangup"}');
  });

  it("prints the note of a log that is cut short by a gap", async () => {
    const running = joinedCall().run(1_000);
    const { code, out } = await command(`${download(running)}${formatNote("events are missing here")}`);
    expect(code).toBe(0);
    expect(out).toContain("note: events are missing here\n");
  });

  it("prints only the time that is asked for, and more of the state", async () => {
    const log = download();
    const { out } = await command(log, "--from", "1000", "--to", "2000");
    const times = [...out.matchAll(/^ +(\d+)\.\d{3} s/gm)].map(([, seconds]) => Number(seconds));
    expect(times.length).toBeGreaterThan(0);
    expect(times.every((seconds) => seconds === 1 || seconds === 2)).toBe(true);
    const more = await command(log, "--states", "--to", "500");
    expect(more.out).toContain("~ timers:");
  });

  it("ends with 1 when the engine breaks, and says where", async () => {
    const { code, out } = await command(`${download()}{"type":"noSuchEvent","atMs":9000}\n`, "--to", "0");
    // Ended calls accept no event: this one has not ended.
    expect([code, out]).toEqual([0, expect.stringContaining("every invariant holds")]);
    const running = joinedCall().run(1_000);
    const broken = await command(`${download(running)}{"type":"noSuchEvent","atMs":9000}\n`, "--to", "0");
    expect(broken.out).toContain("    9.000 s  noSuchEvent");
    expect(broken.out).toContain("! the engine threw: TypeError");
    expect(broken.out).toContain("1 broken invariants");
    expect(broken.code).toBe(1);
  });

  it("ends with 2 when the file is none", async () => {
    const { code, err } = await command("nonsense\n");
    expect(code).toBe(2);
    expect(err).toContain("line 1");
  });

  it("is what npm runs", () => {
    const manifest = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
    expect(manifest).toContain('"replay": "node packages/server/replay/replay.ts"');
  });
});
