/** The toy models of `fixtures/models`, and what is needed to run them. */

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { STT_SAMPLE_RATE_HZ } from "../../../ports/stt.ts";
import { startLocalChild, type StartLocalChild } from "../local-child.ts";
import type { CheckedFile, LoadOrder, LocalModel } from "../local-model.ts";

const FIXTURES = fileURLToPath(new URL("../../../../../../fixtures/models/", import.meta.url));

/** Of a package; null: it is not installed. */
function folderOf(packageName: string, file: string): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/${file}`));
  } catch {
    return null;
  }
}

const SHERPA_FOLDER = folderOf("sherpa-onnx-node", "package.json");
const ESPEAK_FOLDER = folderOf("@echogarden/espeak-ng-emscripten", "espeak-ng.js");

/** What is not installed, for the line that a test that is skipped prints; null: everything is. */
export const MISSING_FOR_STT = SHERPA_FOLDER === null ? "the package sherpa-onnx-node" : null;
export const MISSING_FOR_TTS =
  MISSING_FOR_STT ?? (ESPEAK_FOLDER === null ? "the package @echogarden/espeak-ng-emscripten" : null);

export const SHERPA = SHERPA_FOLDER ?? "";

export function checkedFile(path: string): CheckedFile {
  const content = readFileSync(path);
  return { path, bytes: content.byteLength, sha256: createHash("sha256").update(content).digest("hex") };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** A folder of the test, and what removes it. */
export interface ToyFolder {
  readonly path: string;
  remove(): void;
}

export function newToyFolder(): ToyFolder {
  const path = mkdtempSync(join(tmpdir(), "parley-toys-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The data files of eSpeak NG, as they are inside of the package of the offline voice. */
export function writeEspeakData(into: string): string {
  const espeak = ESPEAK_FOLDER ?? "";
  const program = readFileSync(join(espeak, "espeak-ng.js"), "utf8");
  const data = readFileSync(join(espeak, "espeak-ng.data"));
  for (const match of program.matchAll(/filename:"\/usr\/share\/([^"]+)",start:(\d+),end:(\d+)/g)) {
    const [, name = "", start, end] = match;
    // Of the dictionaries, that of English is enough.
    if (name.endsWith("_dict") && !name.endsWith("/en_dict")) continue;
    const path = join(into, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data.subarray(Number(start), Number(end)));
  }
  const found = join(into, "espeak-ng-data");
  if (!existsSync(join(found, "phontab")))
    throw new Error("the package of eSpeak NG has no data in a known form");
  return found;
}

export function toyRecogniser(model = join(FIXTURES, "toy-recogniser", "toy-ctc.onnx")): LocalModel {
  const tokens = join(FIXTURES, "toy-recogniser", "tokens.txt");
  return {
    name: "toy-recogniser",
    family: "online-nemo-ctc",
    paths: { model, tokens },
    files: [model, tokens].map(checkedFile),
    languages: ["en"],
    voices: [],
  };
}

/** The same for whole utterances. */
export function toyWholeRecogniser(): LocalModel {
  const toy = toyRecogniser(join(FIXTURES, "toy-recogniser", "toy-whole.onnx"));
  return { ...toy, name: "toy-whole", family: "nemo-ctc" };
}

/** @param dataDir from `writeEspeakData` */
export function toyVoice(dataDir: string, model = join(FIXTURES, "toy-voice", "toy-voice.onnx")): LocalModel {
  const tokens = join(FIXTURES, "toy-voice", "tokens.txt");
  return {
    name: "toy-voice",
    family: "vits",
    paths: { model, tokens, dataDir },
    files: [model, tokens, ...filesBelow(dataDir)].map(checkedFile),
    languages: ["en"],
    voices: ["toy"],
  };
}

export function orderOf(model: LocalModel): LoadOrder {
  return { model, packageFolder: SHERPA, threads: 1 };
}

/** Starts processes and keeps their ids. */
export function trackedStart(): { readonly pids: number[]; readonly start: StartLocalChild } {
  const pids: number[] = [];
  return {
    pids,
    start: (program, order, listener) => {
      const child = startLocalChild<never, never>(program, order, listener);
      if (child.pid !== undefined) pids.push(child.pid);
      return child;
    },
  };
}

/** Starts processes that are killed by whatever they are asked. */
export const startFragile: StartLocalChild = (program, order, listener) => {
  const child = startLocalChild<never, never>(program, order, listener);
  const { pid = 0 } = child;
  let isAlive = true;
  return {
    ...child,
    send: () => {
      if (isAlive) process.kill(pid, "SIGKILL");
      isAlive = false;
    },
  };
};

/** Hz of the words of the toy recogniser. */
const TONES = { low: 200, mid: 900, high: 2_400, top: 6_000 } as const;

/** Tones of half a second with gaps. */
export function tonesOf(...words: readonly (keyof typeof TONES)[]): Int16Array {
  const toneSamples = STT_SAMPLE_RATE_HZ / 2;
  const wordSamples = toneSamples + STT_SAMPLE_RATE_HZ / 10;
  const samples = new Int16Array(words.length * wordSamples);
  for (const [index, word] of words.entries())
    for (let at = 0; at < toneSamples; at += 1)
      samples[index * wordSamples + at] =
        10_000 * Math.sin((2 * Math.PI * TONES[word] * at) / STT_SAMPLE_RATE_HZ);
  return samples;
}
