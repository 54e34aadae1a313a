/** Write queue for the records of one call: in order, one at a time, with retries. */

import type { CallEventRecord, MessageRecord } from "../../call/effects.ts";
import type { CallLogger } from "../call-deps.ts";
import type { CallRecords, EndedRecord, FaultRecord, JoinedRecord, StageRecord } from "./call-records.ts";
import type { Clock } from "../../pacing/clock.ts";
import { errorOf, messageOf } from "../../pacing/error-text.ts";
import type { EventChunk } from "./event-chunks.ts";

/** Records that may wait for a slow store; beyond it the oldest call event, else the oldest record, is dropped. */
const WAITING_LIMIT = 1_000;
/** One attempt; a store that takes longer is treated as failing. */
const ATTEMPT_LIMIT_MS = 5_000;
/** The same once the call has ended, because its end must be recorded within 5 s of its cause. */
const LAST_ATTEMPT_LIMIT_MS = 1_500;
/** Pause before the next attempt, doubled each time up to the second number. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** How long one record is retried before it is dropped, so that it does not block those behind it. */
const RECORD_LIMIT_MS = 30_000;
/** The same once the call has ended. */
const LAST_RECORD_LIMIT_MS = 2_000;
/**
 * The join and the end are retried for longer: without them the call is counted, reported and billed incorrectly until
 * this process is restarted. An outage of the database takes minutes.
 */
const PATIENT_LIMIT_MS = 3_600_000;

interface Waiting {
  readonly kind:
    "joined" | "message" | "callEvent" | "stage" | "toolFailed" | "eventChunk" | "fault" | "ended";
  /** Waiting records with the same key replace one another. */
  readonly key: string | null;
  readonly write: () => Promise<void>;
}

export class RecordQueue {
  readonly #callId: string;
  readonly #records: CallRecords;
  readonly #clock: Clock;
  readonly #logger: CallLogger;
  #waiting: Waiting[] = [];
  #working: Promise<void> | null = null;
  #ending = false;
  /** Ends the pause between two attempts. */
  #wake: (() => void) | null = null;
  /** Gives the current attempt the shorter limit. */
  #hurry: (() => void) | null = null;

  constructor(callId: string, records: CallRecords, clock: Clock, logger: CallLogger) {
    this.#callId = callId;
    this.#records = records;
    this.#clock = clock;
    this.#logger = logger;
  }

  joined(record: JoinedRecord): void {
    this.#add({ kind: "joined", key: null, write: () => this.#records.joined(this.#callId, record) });
  }

  stage(record: StageRecord): void {
    this.#add({ kind: "stage", key: null, write: () => this.#records.stage(this.#callId, record) });
  }

  toolFailed(record: { readonly stageId: string }): void {
    this.#add({ kind: "toolFailed", key: null, write: () => this.#records.toolFailed(this.#callId, record) });
  }

  message(message: MessageRecord): void {
    const key = `${message.stageId}/${String(message.index)}`;
    this.#add({ kind: "message", key, write: () => this.#records.message(this.#callId, message) });
  }

  callEvent(event: CallEventRecord): void {
    this.#add({ kind: "callEvent", key: null, write: () => this.#records.callEvent(this.#callId, event) });
  }

  eventChunk(chunk: EventChunk): void {
    this.#add({ kind: "eventChunk", key: null, write: () => this.#records.eventChunk(this.#callId, chunk) });
  }

  fault(record: FaultRecord): void {
    this.#add({ kind: "fault", key: null, write: () => this.#records.fault(this.#callId, record) });
  }

  /** Resolves when everything queued is written or dropped; never rejects. No record is accepted after it. */
  async flush(): Promise<void> {
    this.#ending = true;
    this.#wake?.();
    this.#hurry?.();
    await this.#working;
  }

  /** Writes everything queued and then the end. Resolves when the end is written or dropped; never rejects. */
  async end(record: EndedRecord): Promise<void> {
    this.#add({ kind: "ended", key: null, write: () => this.#records.ended(this.#callId, record) });
    await this.flush();
  }

  #add(record: Waiting): void {
    if (this.#ending) return;
    // The first one is skipped: it may be being written already.
    const same =
      record.key === null ? -1 : this.#waiting.findIndex((one, i) => i > 0 && one.key === record.key);
    if (same > 0) this.#waiting[same] = record;
    else this.#waiting.push(record);
    if (this.#waiting.length > WAITING_LIMIT && record.kind !== "ended") this.#giveUpOldest();
    this.#working ??= this.#work();
  }

  #giveUpOldest(): void {
    const event = this.#waiting.findIndex((one, i) => i > 0 && one.kind === "callEvent");
    const [lost] = this.#waiting.splice(Math.max(1, event), 1);
    this.#logger.error(
      { callId: this.#callId, record: lost?.kind },
      "the store is too slow: a record is lost",
    );
  }

  async #work(): Promise<void> {
    for (let record = this.#waiting[0]; record !== undefined; record = this.#waiting[0]) {
      await this.#write(record);
      this.#waiting.shift();
    }
    this.#working = null;
  }

  async #write(record: Waiting): Promise<void> {
    const startMs = this.#clock.nowMs();
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      try {
        await this.#attempt(record);
        return;
      } catch (error) {
        const limitMs = this.#limitMs(record);
        const fields = { callId: this.#callId, record: record.kind, error: messageOf(error) };
        if (this.#clock.nowMs() - startMs + pauseMs > limitMs) {
          this.#logger.error(fields, "a record could not be written and is lost");
          return;
        }
        this.#logger.warn(fields, "a record could not be written; retrying");
      }
      await this.#pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  #limitMs({ kind }: Waiting): number {
    if (kind === "joined" || kind === "ended") return PATIENT_LIMIT_MS;
    return this.#ending ? LAST_RECORD_LIMIT_MS : RECORD_LIMIT_MS;
  }

  #attempt(record: Waiting): Promise<void> {
    return new Promise((resolve, reject) => {
      const expire = () => {
        reject(new Error("the store did not answer in time"));
      };
      let cancel = this.#clock.after(this.#ending ? LAST_ATTEMPT_LIMIT_MS : ATTEMPT_LIMIT_MS, expire);
      this.#hurry = () => {
        cancel();
        cancel = this.#clock.after(LAST_ATTEMPT_LIMIT_MS, expire);
      };
      const settle = (act: () => void) => {
        cancel();
        this.#hurry = null;
        act();
      };
      record.write().then(
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
      const cancel = this.#clock.after(delayMs, done);
      this.#wake = done;
    });
  }
}
