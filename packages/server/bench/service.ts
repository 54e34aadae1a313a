/** Starts the benchmark's service and reads its figures. */

import { fileURLToPath } from "node:url";
import { restOf, startChildService, type ChildService, type Rest } from "../demo/child-service.ts";
import type { ServiceFigures } from "./bench-service.ts";
import { EndedCalls } from "./lines/ended-calls.ts";

export interface BenchService extends ChildService {
  readonly rest: Rest;
  /** Figures of each second since the start, or since the last call. */
  takeFigures(): ServiceFigures[];
  /** Sent to the database since the start, up to the last second. */
  statements(): number;
  /** Calls that the service has ended by itself since the start, or since the last call, by end reason. */
  takeEnded(): ReadonlyMap<string, number>;
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
  let statements = 0;
  const ended = new EndedCalls();
  const read = (second: ServiceFigures): void => {
    figures.push(second);
    statements += second.statements;
  };
  const service = await startChildService({
    program: fileURLToPath(new URL("./bench-service.ts", import.meta.url)),
    env: {
      BENCH_STT_MS: String(delays.sttMs),
      BENCH_LLM_MS: String(delays.llmMs),
      BENCH_TTS_MS: String(delays.ttsMs),
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ACCOUNT: "0",
      MAX_LIVE_CALLS: "2000",
      // The ends of calls; other lines of this level are left out.
      LOG_LEVEL: "info",
      ...env,
    },
    nodeArguments,
    onLine(line) {
      if (line.startsWith("BENCH ")) read(JSON.parse(line.slice(6)) as ServiceFigures);
      else if (!ended.read(line) && onLine?.(line) !== true && !isUsual(line)) console.error(line);
    },
  });
  const takeFigures = (): ServiceFigures[] => {
    const taken = figures;
    figures = [];
    return taken;
  };
  const takeEnded = (): ReadonlyMap<string, number> => ended.take();
  return { ...service, rest: restOf(service), takeFigures, statements: () => statements, takeEnded };
}

/** What the service does, and where it is; only warnings matter here. */
function isUsual(line: string): boolean {
  return line.startsWith("  Service ") || /"level":[123]0\b/.test(line);
}
