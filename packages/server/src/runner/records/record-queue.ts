/**
 * Write queue for the records of one call: in order, one at a time, with retries. What the database does not take goes
 * into the journal of this node, with all that follows, until the journal has written it.
 */

import { randomUUID } from "node:crypto";
import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { CallLogger } from "../call-deps.ts";
import {
  writeRecord,
  type CallRecord,
  type CallRecords,
  type EndedRecord,
  type FaultRecord,
  type JoinedRecord,
  type JournalCall,
  type RecordCounts,
  type RecordJournal,
  type SideTokens,
  type SnapshotRecord,
  type StageRecord,
} from "./call-records.ts";
import type { Clock } from "../../pacing/clock.ts";
import { errorOf, messageOf } from "../../pacing/error-text.ts";
import type { EventChunk } from "./event-chunks.ts";

/** Records in memory; beyond it the oldest call event, else the oldest record, is lost. */
const WAITING_LIMIT = 1_000;
/** A store that is slow, but does not fail, leaves this many to the journal. */
const WAITING_BEFORE_JOURNAL = 500;
/** One attempt; a store that takes longer is treated as failing. */
const ATTEMPT_LIMIT_MS = 5_000;
/** The same once the call has ended, because its end must be recorded within 5 s of its cause. */
const LAST_ATTEMPT_LIMIT_MS = 1_500;
/** Pause before the next attempt, doubled each time up to the second number. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/**
 * How long one record is retried before it goes into the journal with all that wait behind it. A process that is killed
 * loses what is in memory: that of some seconds at most.
 */
const JOURNAL_AFTER_MS = 2_000;
/**
 * How long a record is retried that the journal does not take either. Without the end a call is counted, reported and
 * billed incorrectly until this process is restarted; an outage of the database takes minutes.
 */
const RECORD_LIMIT_MS = 3_600_000;

export interface RecordQueueDeps {
  readonly records: CallRecords;
  readonly journal: RecordJournal;
  readonly clock: Clock;
  readonly logger: Pick<CallLogger, "warn" | "error">;
}

export class RecordQueue {
  readonly #call: JournalCall;
  readonly #deps: RecordQueueDeps;
  #waiting: CallRecord[] = [];
  #working: Promise<void> | null = null;
  #ending = false;
  #dropped = false;
  #versions = 0;
  readonly #toolFailures = new Map<string, number>();
  /** The first count of each stage. */
  readonly #initialTokens = new Map<string, number>();
  /** Lost records that no event has reported yet. */
  #lost = 0;
  #hasLost = false;
  /** An event about lost records has the time of the last event. */
  #lastEvent: CallEventRecord | null = null;
  /** Ends the pause between two attempts. */
  #wake: (() => void) | null = null;
  /** Gives the current attempt the shorter limit. */
  #hurry: (() => void) | null = null;
  /** Called when a snapshot is written, or never will be. */
  readonly #stored = new WeakMap<CallRecord, (() => void)[]>();

  /**
   * @param call its `stageId` is the first stage
   * @param counts of the process before, where this one continues its call
   */
  constructor(call: JournalCall, deps: RecordQueueDeps, counts: RecordCounts | null = null) {
    this.#call = call;
    this.#deps = deps;
    this.#versions = counts?.versions ?? 0;
    for (const [stageId, failures] of counts?.toolFailures ?? []) this.#toolFailures.set(stageId, failures);
    for (const [stageId, tokens] of counts?.initialTokens ?? []) this.#initialTokens.set(stageId, tokens);
  }

  joined(joined: JoinedRecord): void {
    this.#add({ kind: "joined", joined });
  }

  stage(stage: StageRecord): void {
    this.#add({ kind: "stage", stage });
  }

  toolFailed({ stageId }: { readonly stageId: string }): void {
    const failures = (this.#toolFailures.get(stageId) ?? 0) + 1;
    this.#toolFailures.set(stageId, failures);
    this.#add({ kind: "toolFailed", toolFailed: { stageId, failures } });
  }

  tokensCounted(stageId: string, inputTokens: number): void {
    const initial = this.#initialTokens.get(stageId) ?? inputTokens;
    this.#initialTokens.set(stageId, initial);
    const tokensCounted = { stageId, initial, latest: inputTokens };
    this.#replace((one) => one.kind === "tokensCounted" && one.tokensCounted.stageId === stageId, {
      kind: "tokensCounted",
      tokensCounted,
    });
  }

  sideTokensCounted(sideTokens: SideTokens): void {
    this.#replace((one) => one.kind === "sideTokensCounted", { kind: "sideTokensCounted", sideTokens });
  }

  message(message: MessageRecord): void {
    this.#versions += 1;
    const record: CallRecord = { kind: "message", message, version: this.#versions };
    this.#replace((one) => isSameMessage(one, message), record);
  }

  callEvent(event: CallEventRecord): void {
    this.#lastEvent = event;
    this.#add({ kind: "callEvent", event, key: randomUUID() });
  }

  eventChunk(chunk: EventChunk): void {
    this.#add({ kind: "eventChunk", chunk });
  }

  /**
   * Follows all records that it knows of. Of those that wait, the oldest and the newest are written. Resolves when it is written, or will not be: the
   * journal takes none, because another process cannot read it.
   */
  snapshot(taken: Omit<SnapshotRecord, "counts">): Promise<void> {
    if (this.#ending) return Promise.resolve();
    const counts = {
      versions: this.#versions,
      toolFailures: [...this.#toolFailures],
      initialTokens: [...this.#initialTokens],
    };
    const record: CallRecord = { kind: "snapshot", snapshot: { ...taken, counts } };
    const waiting = this.#waiting.filter(({ kind }, i) => i > 0 && kind === "snapshot");
    // The oldest keeps its place: under load one that always moved to the end would never be written.
    const earlier = waiting.length > 1 ? waiting.at(-1) : undefined;
    if (earlier !== undefined) this.#waiting = this.#waiting.filter((one) => one !== earlier);
    const stored = Promise.withResolvers<void>();
    this.#stored.set(record, [
      ...(earlier === undefined ? [] : (this.#stored.get(earlier) ?? [])),
      stored.resolve,
    ]);
    this.#add(record);
    return stored.promise;
  }

  fault(fault: FaultRecord): void {
    this.#add({ kind: "fault", fault });
  }

  /** Resolves when everything queued is written, in the journal, or lost; never rejects. No record is accepted after it. */
  async flush(): Promise<void> {
    this.#ending = true;
    this.#wake?.();
    this.#hurry?.();
    await this.#working;
  }

  /**
   * Writes everything queued, then gives the call up. Rejects where something of it is only in the journal of this node:
   * another process could not continue from it.
   */
  async release(): Promise<void> {
    await this.flush();
    const { callId } = this.#call;
    if (this.#deps.journal.has(callId)) throw new Error("its last records are in the journal");
    await this.#deps.records.handOver(callId);
  }

  /** Another process has the call: what waits is not written, and no record is accepted any more. */
  drop(): void {
    this.#ending = true;
    this.#dropped = true;
    for (const record of this.#waiting) this.#settle(record);
    this.#waiting = [];
    this.#wake?.();
  }

  /** Like `flush`, with the end, which follows everything queued. */
  async end(ended: EndedRecord): Promise<void> {
    this.#add({ kind: "ended", ended });
    await this.flush();
  }

  #add(record: CallRecord): void {
    if (this.#ending) return;
    this.#waiting.push(record);
    if (this.#waiting.length > WAITING_LIMIT && record.kind !== "ended") this.#giveUpOldest();
    this.#working ??= this.#work();
  }

  /** Takes the place of an earlier record that waits. */
  #replace(isEarlier: (record: CallRecord) => boolean, record: CallRecord): void {
    // The first one is skipped: it may be being written already.
    const same = this.#waiting.findIndex((one, i) => i > 0 && isEarlier(one));
    if (same > 0 && !this.#ending) this.#waiting[same] = record;
    else this.#add(record);
  }

  #giveUpOldest(): void {
    const event = this.#waiting.findIndex((one, i) => i > 0 && one.kind === "callEvent");
    const [lost] = this.#waiting.splice(Math.max(1, event), 1);
    this.#settle(lost);
    this.#lose({ record: lost?.kind }, "the store is too slow: records of a call are lost");
  }

  #settle(record: CallRecord | undefined): void {
    if (record === undefined) return;
    for (const stored of this.#stored.get(record) ?? []) stored();
    this.#stored.delete(record);
  }

  /** One line for each call: its event has their number. */
  #lose(fields: Readonly<Record<string, unknown>>, text: string): void {
    if (!this.#hasLost) this.#deps.logger.error({ callId: this.#call.callId, ...fields }, text);
    this.#hasLost = true;
    this.#lost += 1;
  }

  /** The same records; where the end is among them and records were lost, the event about that is right before it. */
  #withLossEvent(records: readonly CallRecord[]): CallRecord[] {
    const ended = records.at(-1);
    if (this.#lost === 0 || ended?.kind !== "ended") return [...records];
    const event = lossEvent(this.#call.stageId, this.#lost, this.#lastEvent);
    return [...records.slice(0, -1), { kind: "callEvent", event, key: randomUUID() }, ended];
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#waiting[0]?.kind === "ended") {
        this.#waiting = this.#withLossEvent(this.#waiting);
        this.#lost = 0;
      }
      const [record] = this.#waiting;
      if (record === undefined) break;
      const follows = this.#deps.journal.has(this.#call.callId);
      const isBehind = this.#waiting.length > WAITING_BEFORE_JOURNAL;
      if ((follows || isBehind) && (await this.#keep()) === "kept") continue;
      await this.#write(record);
    }
    this.#working = null;
  }

  /** Removes the record from those that wait: it is written, in the journal, or lost. */
  async #write(record: CallRecord): Promise<void> {
    const { clock, logger } = this.#deps;
    const startMs = clock.nowMs();
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      try {
        await this.#attempt(record);
        this.#settle(this.#waiting.shift());
        return;
      } catch (error) {
        if (this.#dropped) return;
        const triedMs = clock.nowMs() - startMs + pauseMs;
        const fields = { callId: this.#call.callId, record: record.kind, error: messageOf(error) };
        logger.warn(fields, "a record could not be written; retrying");
        if (triedMs > JOURNAL_AFTER_MS && (await this.#keep()) === "kept") return;
        if (triedMs > RECORD_LIMIT_MS) {
          this.#settle(this.#waiting.shift());
          this.#lose(fields, "a record could not be written and is lost");
          return;
        }
      }
      await this.#pause(pauseMs);
      if (this.#dropped) return;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Moves all that wait into the journal. `failed`: the disk did not take them, and they wait again. */
  async #keep(): Promise<"kept" | "failed"> {
    const { callId } = this.#call;
    const before = this.#waiting;
    for (const record of before) this.#settle(record);
    const kept = before.filter(({ kind }) => kind !== "snapshot");
    this.#waiting = [];
    if (kept.length === 0) return "kept";
    try {
      await this.#deps.journal.append(this.#call, this.#withLossEvent(kept));
      if (kept.at(-1)?.kind === "ended") this.#lost = 0;
      return "kept";
    } catch (error) {
      this.#waiting = [...before, ...this.#waiting];
      this.#deps.logger.warn(
        { callId, error: messageOf(error) },
        "the journal did not take the records of a call",
      );
      return "failed";
    }
  }

  #attempt(record: CallRecord): Promise<void> {
    const { records, clock } = this.#deps;
    return new Promise((resolve, reject) => {
      const expire = () => {
        reject(new Error("the store did not answer in time"));
      };
      let cancel = clock.after(this.#ending ? LAST_ATTEMPT_LIMIT_MS : ATTEMPT_LIMIT_MS, expire);
      this.#hurry = () => {
        cancel();
        cancel = clock.after(LAST_ATTEMPT_LIMIT_MS, expire);
      };
      const settle = (act: () => void) => {
        cancel();
        this.#hurry = null;
        act();
      };
      writeRecord(records, this.#call.callId, record).then(
        () => {
          settle(resolve);
        },
        (error: unknown) => {
          settle(() => {
            reject(errorOf(error));
          });
        },
      );
    });
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#wake = null;
        resolve();
      };
      const cancel = this.#deps.clock.after(delayMs, done);
      this.#wake = done;
    });
  }
}

function isSameMessage(record: CallRecord, { stageId, index }: MessageRecord): boolean {
  return record.kind === "message" && record.message.stageId === stageId && record.message.index === index;
}

/** What a call says in its events when records of it were lost. */
export function lossEvent(stageId: string, lost: number, last: CallEventRecord | null): CallEventRecord {
  return {
    stageId: last?.stageId ?? stageId,
    callTimestampMs: last?.callTimestampMs ?? 0,
    wallClockTimestampMs: last?.wallClockTimestampMs ?? null,
    severity: "error",
    type: "records.lost",
    text: `${String(lost)} records of this call could not be stored: its messages and events are not complete`,
    extras: { records: lost },
  };
}
