/** Several processes of one service behind one port: a setting of the environment. */

import { z } from "zod";
import { readBy } from "../env-fields.ts";

/** `auto`: as many as the machine has cores. */
export type WantedWorkers = number | "auto";

/** One of several processes of a service. */
export interface WorkerPlace {
  /** From 1 on. The first one does what only one process may do. */
  readonly number: number;
  readonly count: number;
}

/** Each takes about 400 MB and up to 18 connections to the database. */
const MAX_WORKERS = 64;

export const WORKER_FIELDS = { WORKERS: readBy(readWorkers).default(1) };

const Fields = z.object(WORKER_FIELDS);

export function wantedWorkers({ WORKERS: wanted }: z.infer<typeof Fields>): WantedWorkers {
  return wanted;
}

function readWorkers(text: string): WantedWorkers {
  if (text.trim() === "auto") return "auto";
  const count = Number(text);
  if (!/^\s*\d{1,3}\s*$/.test(text) || count < 1 || count > MAX_WORKERS) {
    throw new Error(`must be auto, or a number from 1 to ${String(MAX_WORKERS)}`);
  }
  return count;
}

/** @param cores that the process may use */
export function workerCount(wanted: WantedWorkers, cores: number): number {
  return wanted === "auto" ? Math.min(Math.max(cores, 1), MAX_WORKERS) : wanted;
}

/** Whether this process does what only one of a service may do, such as uploads of recordings. */
export function isFirst(place: WorkerPlace | null): boolean {
  return place === null || place.number === 1;
}
