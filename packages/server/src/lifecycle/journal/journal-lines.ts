/** Records of calls as texts of the journal. */

import type { CallRecord } from "../../runner/records/call-records.ts";

export interface JournalLine {
  readonly accountId: string;
  /** The first stage of the call. */
  readonly stageId: string;
  readonly record: CallRecord;
}

export function formatLine(line: JournalLine): string {
  return JSON.stringify(line);
}

/** The text was sealed by this service, so it has the shape that `formatLine` gave it. Only dates are texts. */
export function parseLine(text: string): JournalLine {
  const line = JSON.parse(text) as JournalLine;
  return { ...line, record: withDates(line.record) };
}

function withDates(record: CallRecord): CallRecord {
  if (record.kind === "joined") {
    return { ...record, joined: { ...record.joined, joinedAt: new Date(record.joined.joinedAt) } };
  }
  if (record.kind === "stage") {
    return { ...record, stage: { ...record.stage, beganAt: new Date(record.stage.beganAt) } };
  }
  if (record.kind !== "ended") return record;
  const { joinedAt, endedAt } = record.ended;
  const joined = joinedAt === null ? null : new Date(joinedAt);
  return { ...record, ended: { ...record.ended, joinedAt: joined, endedAt: new Date(endedAt) } };
}
