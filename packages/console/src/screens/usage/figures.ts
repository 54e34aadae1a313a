/** Fills the gaps in the service's figures, which leave out empty days. */

import type { AgentUsage, CallUsage } from "@parley/schema";
import { DAY_MS, type Period } from "./period.ts";

const HOUR_S = 3_600;
const DAY_S = 86_400;

export type Figures = CallUsage["daily"][number] & { readonly hour?: number };

const NONE = { totalCount: 0, errorCount: 0, joinedCount: 0, duration: "0s", billedMinutes: 0 };

export interface CallFigures {
  readonly stepS: number;
  readonly at: readonly number[];
  readonly total: readonly number[];
  readonly joined: readonly number[];
  readonly errors: readonly number[];
  /** Minutes. */
  readonly joinedMinutes: readonly number[];
  readonly billedMinutes: readonly number[];
}

/** Ten years of days, the limit of the service. */
const MAX_STEPS = 3_660;

/** All steps of the period, with or without calls. An open period starts with the first call. */
export function stepsOf(period: Period, firstS: number | undefined, stepS: number, nowMs: number): number[] {
  const toMs = Math.min(period.toMs ?? nowMs, nowMs);
  const startS = period.fromMs === null ? firstS : Math.floor(period.fromMs / 1000 / stepS) * stepS;
  if (startS === undefined) return [];
  const endS = Math.floor(toMs / 1000 / stepS) * stepS;
  const count = Math.min(Math.floor((endS - startS) / stepS) + 1, MAX_STEPS);
  return Array.from({ length: Math.max(count, 0) }, (_, step) => endS - (count - 1 - step) * stepS);
}

export function callFigures(usage: CallUsage, byHour: boolean, period: Period, nowMs: number): CallFigures {
  const given: readonly Figures[] = byHour ? usage.hourly : usage.daily;
  const stepS = byHour ? HOUR_S : DAY_S;
  const known = new Map(given.map((each) => [secondsOf(each.date) + (each.hour ?? 0) * HOUR_S, each]));
  const [first] = known.keys();
  const at = stepsOf(period, first, stepS, nowMs);
  const of = (figure: (figures: Omit<Figures, "date">) => number) =>
    at.map((seconds) => figure(known.get(seconds) ?? NONE));
  return {
    stepS,
    at,
    total: of(({ totalCount }) => totalCount),
    joined: of(({ joinedCount }) => joinedCount),
    errors: of(({ errorCount }) => errorCount),
    joinedMinutes: of(({ duration }) => minutesOf(duration)),
    billedMinutes: of(({ billedMinutes }) => billedMinutes),
  };
}

function secondsOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** The API writes durations as seconds with an `s`. */
export function minutesOf(duration: string): number {
  return Number.parseFloat(duration) / 60;
}

export interface AgentFigures {
  /** Null: all other agents together. */
  readonly agentId: string | null;
  readonly name: string;
  readonly calls: number;
  readonly billedMinutes: number;
  /** Calls of each day. */
  readonly values: readonly number[];
}

/** The number of colours. */
const MAX_SHOWN = 5;

export interface UsageByAgent {
  readonly at: readonly number[];
  readonly stepS: number;
  /** For the chart: the agents with the most calls, and all others as one. */
  readonly shown: readonly AgentFigures[];
  /** For the table: all agents, most calls first. */
  readonly all: readonly AgentFigures[];
}

export function agentFigures(usage: readonly AgentUsage[], period: Period, nowMs: number): UsageByAgent {
  const dates = usage.flatMap(({ usage: days }) => days.map(({ date }) => secondsOf(date)));
  const first = dates.length === 0 ? undefined : dates.reduce((least, each) => Math.min(least, each));
  const at = stepsOf(period, first, DAY_S, nowMs);
  const all = usage
    .map(({ agent, usage: days }): AgentFigures => {
      const calls = new Map(days.map((day) => [secondsOf(day.date), day.calls]));
      return {
        agentId: agent.agentId,
        name: agent.name,
        calls: sum(days.map((day) => day.calls)),
        billedMinutes: sum(days.map((day) => day.billedMinutes)),
        values: at.map((seconds) => calls.get(seconds) ?? 0),
      };
    })
    .sort((one, other) => other.calls - one.calls);
  const rest = all.slice(MAX_SHOWN);
  const others: AgentFigures = {
    agentId: null,
    name: `${String(rest.length)} others`,
    calls: sum(rest.map(({ calls }) => calls)),
    billedMinutes: sum(rest.map(({ billedMinutes }) => billedMinutes)),
    values: at.map((_, index) => sum(rest.map(({ values }) => values[index] ?? 0))),
  };
  return {
    at,
    stepS: DAY_S,
    shown: [...all.slice(0, MAX_SHOWN), ...(rest.length === 0 ? [] : [others])],
    all,
  };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** When the first call of these figures was created; a day ago without calls. */
export function firstCallMs({ daily }: CallUsage, nowMs: number): number {
  const first = daily[0];
  return first === undefined ? nowMs - DAY_MS : secondsOf(first.date) * 1000;
}
