/** Compares the clock of this machine with that of the database, which all nodes share. */

import { sql } from "kysely";
import type { Db } from "./db.ts";
import { StoreStartError } from "./store-errors.ts";

/**
 * Clocks that NTP sets differ by milliseconds, and unattended ones by seconds a day. Records that a node with a larger
 * difference writes have wrong times, by which they are deleted too early or never.
 */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

export interface ClockDifference {
  readonly machineMs: number;
  readonly databaseMs: number;
}

/** Ms since 1970. The time that the answer takes counts half. */
export async function readClocks(
  db: Db,
  nowMs: () => number = Date.now,
  read: (db: Db) => Promise<number> = readDatabaseClock,
): Promise<ClockDifference> {
  const beforeMs = nowMs();
  const databaseMs = await read(db);
  return { machineMs: Math.round((beforeMs + nowMs()) / 2), databaseMs };
}

export function clocksAgree({ machineMs, databaseMs }: ClockDifference): boolean {
  return Math.abs(machineMs - databaseMs) <= CLOCK_TOLERANCE_MS;
}

/** One sentence with both times. */
export function describeDifference({ machineMs, databaseMs }: ClockDifference): string {
  const at = (ms: number): string => new Date(ms).toISOString();
  return (
    `The clock of this machine (${at(machineMs)}) differs from the clock of the database (${at(databaseMs)}) ` +
    "by more than five minutes: set the wrong one, for example by NTP."
  );
}

/** @throws StoreStartError with a sentence that names both times when they differ by more than `CLOCK_TOLERANCE_MS`. */
export async function refuseWrongClock(db: Db, nowMs?: () => number): Promise<void> {
  const clocks = await readClocks(db, nowMs);
  if (!clocksAgree(clocks)) throw new StoreStartError(describeDifference(clocks));
}

async function readDatabaseClock(db: Db): Promise<number> {
  const read = await sql<{ nowMs: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) throw new Error("The database did not tell its time.");
  return row.nowMs;
}
