/**
 * `npm run bench:local`: the processes of models of this machine, with the toy models of the tests. Real models take
 * their own time on top; these figures say what the way to a model costs.
 */

import {
  newToyFolder,
  toyRecogniser,
  toyVoice,
  toyWholeRecogniser,
  writeEspeakData,
} from "../../src/providers/local-child/testing/toy-models.ts";
import { MISSING_FOR_STT, MISSING_FOR_TTS } from "../../src/providers/local-child/testing/toy-models.ts";
import type { LlmLoadOrder } from "../../src/providers/llm-local/llm-protocol.ts";
import { MISSING_FOR_LLM, toyLlmOrder, writeToyLlm } from "../../src/providers/llm-local/testing/toy-llm.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import type { Crash } from "./child-figures.ts";
import { llmFigures, type LlmFigures } from "./llm-figures.ts";
import { recogniserFigures, type SpeechFigures, voiceFigures } from "./speech-figures.ts";

const missing = MISSING_FOR_STT ?? MISSING_FOR_TTS ?? MISSING_FOR_LLM;
if (missing !== null) {
  console.error(`bench:local needs ${missing}, which is not installed.`);
  process.exit(1);
}

const STAND_IN = new URL("../../src/providers/llm-local/testing/stand-in-child.ts", import.meta.url);
const standIn: LlmLoadOrder = {
  model: { name: "no model", family: "gguf", paths: {}, files: [], languages: ["*"], voices: [] },
  packageFolder: "",
  threads: 1,
  contextTokens: 8_192,
  parallel: 2,
};

const megabytes = (value: number | null): string => (value === null ? "–" : `${value.toFixed(0)} MB`);
const crashCells = ({ failedMs, servedMs }: Crash): string =>
  `${milliseconds(failedMs)} | ${milliseconds(servedMs)}`;
const speechRow = (kind: string, figures: SpeechFigures): string =>
  `| ${kind} (${figures.name}) | ${milliseconds(figures.startMs)} | ${megabytes(figures.memoryMb)} | ` +
  `${figures.realTimeFactor.toFixed(4)} | ${crashCells(figures.crash)} |`;
const spread = (values: readonly number[]): string =>
  `${milliseconds(percentile(values, 0.5))} / ${milliseconds(percentile(values, 0.95))}`;
const llmRow = (kind: string, figures: LlmFigures): string =>
  `| ${kind} | ${milliseconds(figures.startMs)} | ${megabytes(figures.memoryMb)} | ${spread(figures.nextTurnMs)} | ` +
  `${spread(figures.newPromptMs)} (${String(figures.newPromptTokens)} tokens) | ${crashCells(figures.crash)} |`;

const folder = newToyFolder();
try {
  const streaming = await recogniserFigures(toyRecogniser());
  const whole = await recogniserFigures(toyWholeRecogniser());
  const voice = await voiceFigures(toyVoice(writeEspeakData(folder.path)));
  const protocol = await llmFigures(standIn, STAND_IN);
  const order = toyLlmOrder(writeToyLlm(folder.path, { contextTokens: 8_192 }), { contextTokens: 8_192 });
  const llama = await llmFigures(order);
  await publish(
    "bench:local",
    `| recognisers and voices | start, ms | memory | real-time factor | crash to failed request, ms | crash to served again, ms |
|---|---|---|---|---|---|
${speechRow("streaming recogniser", streaming)}
${speechRow("recogniser of whole utterances", whole)}
${speechRow("voice", voice)}

| language model | start, ms | memory | first word of the next turn, p50 / p95, ms | first word of a new prompt, p50 / p95, ms | crash to failed request, ms | crash to served again, ms |
|---|---|---|---|---|---|---|
${llmRow("process and protocol alone, no model", protocol)}
${llmRow("llama.cpp with a toy of one layer", llama)}`,
  );
} finally {
  folder.remove();
}
