/**
 * The journal: records of calls that the database did not take, on the disk of this node. They are written when the
 * database is back, by this process or by its next start, call by call in their order.
 */

import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { CallEventRecord } from "../../call/effects.ts";
import { repeat, type Loop } from "../../pacing/repeat.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CallRecord, JournalCall, RecordJournal } from "../../runner/records/call-records.ts";
import type { JournalCallState } from "../../store/journal/journal-calls.ts";
import type { JournalFiles } from "../../store/journal/journal-files.ts";
import { formatLine, parseLine, type JournalLine } from "./journal-lines.ts";

/** Some hours of talk of one call; and of all calls of the node, 256 at this limit. */
const CALL_LIMIT_BYTES = 4 * 1024 * 1024;
const NODE_LIMIT_BYTES = 1024 * 1024 * 1024;
/** Share of the limits up to which records of a kind are accepted: events and logs leave room for the conversation. */
const SHARES: Readonly<Record<CallRecord["kind"], number>> = {
  joined: 1,
  stage: 1,
  message: 0.9,
  toolFailed: 1,
  tokensCounted: 1,
  sideTokensCounted: 1,
  callEvent: 0.5,
  eventChunk: 0.25,
  // Another process, which would need it, cannot read this journal.
  snapshot: 0,
  fault: 0.25,
  // The last one of a call.
  ended: 2,
};
/** Interval at which the database is tried again. */
const INTERVAL_MS = 2_000;
/**
 * A record that fails this often while the database answers is given up, because those behind it wait. Ten seconds: it
 * may be locked, or wait for a deletion.
 */
const MAX_FAILURES = 5;

export interface JournalDeps {
  readonly files: JournalFiles;
  /** The account of a call of this process. */
  readonly accountOf: (callId: string) => string;
  readonly stateOf: (callId: string) => Promise<JournalCallState>;
  /** Writes a record to the database; the same one again changes nothing. */
  readonly write: (accountId: string, callId: string, record: CallRecord) => Promise<void>;
  /** The event about lost records of a call. */
  readonly lossEvent: (stageId: string, lost: number) => CallEventRecord;
  /** Rejects when the database does not answer. */
  readonly ping: () => Promise<void>;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** For tests. */
  readonly intervalMs?: number;
}

export interface OpenedJournal extends RecordJournal {
  /** The calls that it has records of. */
  callIds(): readonly string[];
  /** Writes what an earlier process left, as far as the database takes it. For the start, before calls are recovered. */
  replay(): Promise<void>;
  start(): void;
  /** Tries once more, and leaves the rest to the next start. Idempotent. */
  close(): Promise<void>;
}

/** Progress with the file of a call. */
interface Progress {
  /** Lines that are written or given up. */
  done: number;
  /** Failures of the next line while the database answered. */
  failures: number;
  /** Records that are lost and not reported yet. */
  lost: number;
  /** Operations on the file, one at a time. */
  last: Promise<unknown>;
}

/** `away`: the database does not answer. */
type WriteOutcome = "written" | "later" | "away";

export function openRecordJournal(deps: JournalDeps): OpenedJournal {
  return new Journal(deps);
}

class Journal implements OpenedJournal {
  readonly #deps: JournalDeps;
  readonly #progress = new Map<string, Progress>();
  #loop: Loop | null = null;
  #isFull = false;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  has(callId: string): boolean {
    return this.#deps.files.has(callId);
  }

  callIds(): readonly string[] {
    return this.#deps.files.callIds();
  }

  append({ callId, stageId }: JournalCall, records: readonly CallRecord[]): Promise<void> {
    return this.#alone(callId, async (progress) => {
      const { files, logger } = this.#deps;
      const accountId = this.#deps.accountOf(callId);
      const isNew = !files.has(callId);
      const format = (record: CallRecord): string => formatLine({ accountId, stageId, record });
      const accepted = this.#fitting(callId, records, format);
      const refused = records.length - accepted.length;
      const lost = progress.lost + refused;
      // The event is stored with the end, or as the only line: whoever reads the file later knows of the loss.
      const ended = accepted.at(-1)?.kind === "ended" ? accepted.pop() : undefined;
      const isTold = lost > 0 && (ended !== undefined || (accepted.length === 0 && isNew));
      const told = isTold ? [this.#lossRecord(stageId, lost)] : [];
      const lines = [...accepted, ...told, ...(ended === undefined ? [] : [ended])];
      if (lines.length > 0) await files.append(callId, lines.map(format));
      progress.lost = isTold ? 0 : lost;
      if (isNew) logger.warn({ callId }, "records of a call wait for the database in the journal");
      if (refused > 0 && !this.#isFull) {
        this.#isFull = true;
        logger.error({ callId, records: refused }, "the journal is full: records of calls are lost");
      }
    });
  }

  #fitting(
    callId: string,
    records: readonly CallRecord[],
    format: (record: CallRecord) => string,
  ): CallRecord[] {
    const { files } = this.#deps;
    let callBytes = files.bytesOf(callId);
    let nodeBytes = files.bytes();
    return records.filter((record) => {
      // Sealing makes a text longer by a third.
      const bytes = (Buffer.byteLength(format(record)) * 4) / 3;
      const share = SHARES[record.kind];
      if (callBytes + bytes > CALL_LIMIT_BYTES * share || nodeBytes + bytes > NODE_LIMIT_BYTES * share) {
        return false;
      }
      callBytes += bytes;
      nodeBytes += bytes;
      return true;
    });
  }

  #lossRecord(stageId: string, lost: number): CallRecord {
    return { kind: "callEvent", event: this.#deps.lossEvent(stageId, lost), key: randomUUID() };
  }

  async replay(): Promise<void> {
    const before = this.callIds().length;
    if (before === 0) return;
    await this.#writeAll();
    const fields = { calls: before, left: this.callIds().length };
    this.#deps.logger.warn(fields, "the journal has records from before this start");
  }

  start(): void {
    const { intervalMs = INTERVAL_MS, logger } = this.#deps;
    this.#loop ??= repeat(
      () => this.#writeAll(),
      () => intervalMs,
      intervalMs,
      (error) => logger.error({ error: messageOf(error) }, "the journal could not be read and is retried"),
    );
  }

  async close(): Promise<void> {
    const loop = this.#loop;
    this.#loop = null;
    await loop?.stop();
    if (loop !== null) await this.#writeAll().catch(() => undefined);
  }

  /** One operation on the file of a call at a time. */
  #alone<Result>(callId: string, work: (progress: Progress) => Promise<Result>): Promise<Result> {
    const known = this.#progress.get(callId);
    const progress = known ?? { done: 0, failures: 0, lost: 0, last: Promise.resolve() };
    this.#progress.set(callId, progress);
    const result = progress.last.then(() => work(progress));
    progress.last = result.catch(() => undefined);
    return result;
  }

  /** Stops at the first call for which the database does not answer. */
  async #writeAll(): Promise<void> {
    for (const callId of this.callIds()) {
      const state = await this.#deps.stateOf(callId).catch(() => "unknown" as const);
      if (state === "unknown") return;
      if (state === "open") {
        if ((await this.#writeCall(callId)) === "away") return;
      } else await this.#drop(callId, state);
    }
    this.#isFull = false;
  }

  async #drop(callId: string, state: Exclude<JournalCallState, "open">): Promise<void> {
    const why = { gone: "was deleted", erased: "has no transcript any more", foreign: "is of another node" };
    await this.#alone(callId, async () => {
      await this.#deps.files.remove(callId);
      this.#progress.delete(callId);
    });
    this.#deps.logger.warn({ callId }, `the journal of a call was removed: the call ${why[state]}`);
  }

  /** Records may be appended meanwhile: they are written by the next run, and the file stays until then. */
  async #writeCall(callId: string): Promise<WriteOutcome> {
    const { files, logger } = this.#deps;
    const { texts, bytes, progress } = await this.#alone(callId, async (known) => {
      const read = await files.read(callId);
      return { texts: read, bytes: files.bytesOf(callId), progress: known };
    });
    if (texts === null) {
      logger.error({ callId }, "the journal of a call cannot be opened with this SECRETS_KEY");
      this.#progress.delete(callId);
      return "written";
    }
    for (const text of texts.slice(progress.done)) {
      const outcome = await this.#writeLine(callId, parseLine(text), progress);
      if (outcome !== "written") return outcome;
      progress.done += 1;
      progress.failures = 0;
    }
    const [first] = texts;
    if (progress.lost > 0 && first !== undefined) await this.#report(callId, parseLine(first), progress);
    return this.#alone(callId, async () => {
      if (files.bytesOf(callId) !== bytes) return "later";
      await files.remove(callId);
      this.#progress.delete(callId);
      return "written";
    });
  }

  async #writeLine(callId: string, line: JournalLine, progress: Progress): Promise<WriteOutcome> {
    const { logger, write, ping } = this.#deps;
    try {
      // The event about lost records comes before the end.
      if (line.record.kind === "ended" && progress.lost > 0) await this.#report(callId, line, progress);
      await write(line.accountId, callId, line.record);
      return "written";
    } catch (error) {
      const isAway = await ping().then(
        () => false,
        () => true,
      );
      if (isAway) return "away";
      progress.failures += 1;
      if (progress.failures < MAX_FAILURES) return "later";
      const fields = { callId, record: line.record.kind, error: messageOf(error) };
      logger.error(fields, "a record could not be written and is lost");
      progress.lost += 1;
      return "written";
    }
  }

  async #report(callId: string, line: JournalLine, progress: Progress): Promise<void> {
    await this.#deps.write(line.accountId, callId, this.#lossRecord(line.stageId, progress.lost));
    progress.lost = 0;
  }
}
