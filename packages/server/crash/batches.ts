/** Creates batches while services are killed, and checks them afterwards. */

import type { restOf } from "../demo/child-service.ts";
import { deliveryOf } from "../src/jobs/testing/receiver.ts";

type Rest = ReturnType<typeof restOf>;

export const BATCH_PATH = "/batch";
const CALLS_PER_BATCH = 25;
/** Metadata key that names the scheduled call a call was made from. */
const MARK = "crash-mark";

interface MadeCall {
  readonly callId: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

interface ScheduledCall extends MadeCall {
  readonly status: string;
  readonly error: string | null;
}

interface Page<Row> {
  readonly results: readonly Row[];
  readonly next: string | null;
}

export class CrashBatches {
  readonly #heard = new Map<string, Set<string>>();
  readonly #acknowledged: string[] = [];
  #tried = 0;
  #agentId: string | null = null;
  #outcomes: Readonly<Record<string, number>> = {};

  /** The receiver of the batches' own webhook. */
  hear(body: string): number {
    const { callId, metadata } = deliveryOf(body).call as unknown as MadeCall;
    const mark = metadata?.[MARK] ?? "none";
    this.#heard.set(mark, (this.#heard.get(mark) ?? new Set()).add(callId));
    return 204;
  }

  async make(rest: Rest, receiverUrl: string): Promise<void> {
    this.#agentId ??= await makeAgent(rest);
    this.#tried += 1;
    const name = String(this.#tried);
    const calls = Array.from({ length: CALLS_PER_BATCH }, (_, index) => ({
      metadata: { [MARK]: `${name}.${String(index)}` },
    }));
    const path = `/api/agents/${this.#agentId}/scheduled_batches`;
    const webhookUrl = receiverUrl.replace(/\/$/, BATCH_PATH);
    const { batchId } = await rest<{ batchId: string }>("POST", path, { calls, webhookUrl });
    this.#acknowledged.push(batchId);
  }

  /** Empty when every scheduled call is final, and none was made twice. */
  async faults(rest: Rest, calls: readonly MadeCall[]): Promise<string[]> {
    const faults: string[] = [];
    const outcomes: Record<string, number> = {};
    const made = new Map(calls.map((call) => [call.callId, call]));
    const base = `/api/agents/${this.#agentId ?? ""}/scheduled_batches`;
    for (const batchId of this.#acknowledged) {
      const batch = await rest<{ endedAt: string | null }>("GET", `${base}/${batchId}`);
      if (batch.endedAt === null) faults.push(`batch ${batchId} has not ended`);
      const scheduled = await allOf<ScheduledCall>(rest, `${base}/${batchId}/scheduled_calls?pageSize=100`);
      if (scheduled.length !== CALLS_PER_BATCH)
        faults.push(`batch ${batchId} has ${String(scheduled.length)} calls`);
      for (const { status, callId, error } of scheduled) {
        const outcome = status === "ERROR" ? `ERROR (${error ?? "no reason"})` : status;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        if (status !== "SUCCESS" && status !== "ERROR")
          faults.push(`a call of batch ${batchId} is ${status}`);
        if (status === "SUCCESS" && !made.has(callId))
          faults.push(`the call of ${batchId} is gone: ${callId}`);
      }
    }
    this.#outcomes = outcomes;
    return [...faults, ...twice(calls), ...this.#duplicates()];
  }

  summary(): string {
    const outcomes = Object.entries(this.#outcomes).map(([name, count]) => `${String(count)} ${name}`);
    return `${String(this.#acknowledged.length)} batches (${outcomes.join(", ")})`;
  }

  #duplicates(): string[] {
    return [...this.#heard]
      .filter(([, calls]) => calls.size > 1)
      .map(([mark]) => `the batch webhook was told of two calls of ${mark}`);
  }
}

/** Also of batches that were not acknowledged: a call that is scheduled once is never made twice. */
function twice(calls: readonly MadeCall[]): string[] {
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const { metadata } of calls) {
    const mark = metadata?.[MARK];
    if (mark === undefined) continue;
    if (seen.has(mark)) faults.push(`scheduled call ${mark} was made twice`);
    seen.add(mark);
  }
  return faults;
}

async function makeAgent(rest: Rest): Promise<string> {
  const callTemplate = {
    systemPrompt: "Say nothing.",
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    firstSpeakerSettings: { user: {} },
    joinTimeout: "1s",
    maxDuration: "2s",
  };
  const { agentId } = await rest<{ agentId: string }>("POST", "/api/agents", { name: "crash", callTemplate });
  return agentId;
}

/** Every row of a list, page by page. */
export async function allOf<Row>(rest: Rest, first: string): Promise<Row[]> {
  const rows: Row[] = [];
  let path: string | null = first;
  while (path !== null) {
    const page: Page<Row> = await rest("GET", path);
    rows.push(...page.results);
    const next: URL | null = page.next === null ? null : new URL(page.next);
    path = next === null ? null : next.pathname + next.search;
  }
  return rows;
}
