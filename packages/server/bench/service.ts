/** Starts the benchmark's service and reads its figures. */

import { fileURLToPath } from "node:url";
import { restOf, startChildService, type ChildService, type Rest } from "../demo/child-service.ts";
import type { ServiceFigures } from "./bench-service.ts";

export interface BenchService extends ChildService {
  readonly rest: Rest;
  /** Figures of each second since the start, or since the last call. */
  takeFigures(): ServiceFigures[];
}

export interface FakeDelays {
  readonly sttMs: number;
  readonly llmMs: number;
  readonly ttsMs: number;
}

export interface BenchServiceOptions {
  readonly nodeArguments?: readonly string[];
  /** Handles a line that is no figure; true when it was handled. */
  readonly onLine?: (line: string) => boolean;
}

export async function startBenchService(
  delays: FakeDelays,
  env: Readonly<Record<string, string>> = {},
  { nodeArguments = [], onLine }: BenchServiceOptions = {},
): Promise<BenchService> {
  let figures: ServiceFigures[] = [];
  const service = await startChildService({
    program: fileURLToPath(new URL("./bench-service.ts", import.meta.url)),
    env: {
      BENCH_STT_MS: String(delays.sttMs),
      BENCH_LLM_MS: String(delays.llmMs),
      BENCH_TTS_MS: String(delays.ttsMs),
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ACCOUNT: "0",
      MAX_LIVE_CALLS: "2000",
      ...env,
    },
    nodeArguments,
    onLine(line) {
      if (line.startsWith("BENCH ")) figures.push(JSON.parse(line.slice(6)) as ServiceFigures);
      else if (onLine?.(line) !== true && !line.startsWith("  Service ")) console.error(line);
    },
  });
  const takeFigures = (): ServiceFigures[] => {
    const taken = figures;
    figures = [];
    return taken;
  };
  return { ...service, rest: restOf(service), takeFigures };
}
