/** Filters of the call list, in the URL of the page and in requests. */

import type { InputOf } from "@parley/client/rest";
import type { EndReason } from "@parley/schema";
import { END_REASONS } from "./call-words.ts";

type Query = NonNullable<InputOf<"GET", "/api/calls">["query"]>;
export type CallSort = NonNullable<Query["sort"]>;

export const SORTS = [
  { value: "-created", label: "Newest first" },
  { value: "created", label: "Oldest first" },
  { value: "-joined", label: "Most recently joined first" },
  { value: "joined", label: "Least recently joined first" },
  { value: "-ended", label: "Most recently ended first" },
  { value: "ended", label: "Least recently ended first" },
  { value: "-billedDuration", label: "Longest billed time first" },
  { value: "billedDuration", label: "Shortest billed time first" },
  { value: "endReason", label: "End reason, A to Z" },
  { value: "-endReason", label: "End reason, Z to A" },
] as const satisfies readonly { readonly value: CallSort; readonly label: string }[];

const DEFAULT_SORT: CallSort = "-created";

/** A search of transcripts has no other order. */
const SORTS_OF_SAID = SORTS.filter(({ value }) => value === "created" || value === "-created");

export function sortsFor({ said }: Pick<CallFilters, "said">): readonly (typeof SORTS)[number][] {
  return said === "" ? SORTS : SORTS_OF_SAID;
}

export const STATUSES = [
  { value: "", label: "Any status" },
  { value: "waiting", label: "Waiting" },
  { value: "running", label: "Running" },
  { value: "ended", label: "Ended" },
] as const satisfies readonly { readonly value: "" | NonNullable<Query["status"]>; readonly label: string }[];

export const ENDS: readonly { readonly value: "" | EndReason; readonly label: string }[] = [
  { value: "", label: "Any end" },
  ...(Object.keys(END_REASONS) as EndReason[]).map((value) => ({ value, label: END_REASONS[value].text })),
];

/** Texts as typed; empty: no filter. */
export interface CallFilters {
  readonly agentIds: readonly string[];
  /** Days in local time, such as `2026-05-31`. */
  readonly from: string;
  readonly to: string;
  /** Seconds. */
  readonly shortest: string;
  readonly longest: string;
  /** Times of day in UTC, such as `09:30`. */
  readonly dayStart: string;
  readonly dayEnd: string;
  readonly voiceId: string;
  /** `key=value`, one per line. */
  readonly metadata: string;
  readonly search: string;
  /** Words of the transcript. */
  readonly said: string;
  readonly status: (typeof STATUSES)[number]["value"];
  readonly end: "" | EndReason;
  readonly withErrors: boolean;
  readonly sort: CallSort;
}

const TEXTS = [
  "from",
  "to",
  "shortest",
  "longest",
  "dayStart",
  "dayEnd",
  "voiceId",
  "metadata",
  "search",
  "said",
] as const;

/** The filters behind "More filters". */
export const MORE = ["shortest", "longest", "dayStart", "dayEnd", "voiceId", "metadata"] as const;
export type MoreFilters = Pick<CallFilters, (typeof MORE)[number]>;

export function filtersOf(address: URLSearchParams): CallFilters {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, address.get(name) ?? ""]));
  const given = texts as Record<(typeof TEXTS)[number], string>;
  return {
    ...given,
    agentIds: address.getAll("agent"),
    status: STATUSES.find(({ value }) => value === address.get("status"))?.value ?? "",
    end: ENDS.find(({ value }) => value === address.get("end"))?.value ?? "",
    withErrors: address.get("errors") === "true",
    sort: sortsFor(given).find(({ value }) => value === address.get("sort"))?.value ?? DEFAULT_SORT,
  };
}

/** The URL parameters with these filters; other parameters stay. */
export function withFilters(address: URLSearchParams, filters: Partial<CallFilters>): URLSearchParams {
  const next = new URLSearchParams(address);
  const whole = { ...filtersOf(address), ...filters };
  for (const name of [...TEXTS, "status", "end", "errors", "agent", "sort"]) next.delete(name);
  for (const name of [...TEXTS, "status", "end"] as const)
    if (whole[name] !== "") next.set(name, whole[name]);
  if (whole.withErrors) next.set("errors", "true");
  for (const agentId of whole.agentIds) next.append("agent", agentId);
  if (whole.sort !== DEFAULT_SORT) next.set("sort", whole.sort);
  return next;
}

/** How many filters behind "More filters" are set. */
export function countMore(filters: CallFilters): number {
  return MORE.filter((name) => filters[name].trim() !== "").length;
}

export function isFiltered(filters: CallFilters): boolean {
  const { agentIds, status, end, withErrors } = filters;
  const isChosen = agentIds.length > 0 || status !== "" || end !== "" || withErrors;
  return isChosen || TEXTS.some((name) => filters[name].trim() !== "");
}

export function queryOf(filters: CallFilters): Query {
  const { agentIds, from, to, shortest, longest, dayStart, dayEnd, voiceId, search, sort } = filters;
  const { said, status, end, withErrors } = filters;
  const metadata = metadataOf(filters.metadata);
  return {
    ...(agentIds.length === 0 ? {} : { agentIds: [...agentIds] }),
    ...given("fromDate", momentOf(from, "00:00:00")),
    ...given("toDate", momentOf(to, "23:59:59.999")),
    ...given("durationMin", secondsOf(shortest)),
    ...given("durationMax", secondsOf(longest)),
    ...given("timeOfDayStart", dayStart === "" ? "" : `${dayStart}:00`),
    ...given("timeOfDayEnd", dayEnd === "" ? "" : `${dayEnd}:59`),
    ...given("voiceId", voiceId.trim()),
    ...given("search", search.trim()),
    ...given("transcriptSearch", said.trim()),
    ...(status === "" ? {} : { status }),
    ...(end === "" ? {} : { endReason: end }),
    ...(withErrors ? { hasErrors: true } : {}),
    ...(metadata === null ? {} : { metadata }),
    sort,
  };
}

function given<Name extends string>(name: Name, value: string): { readonly [N in Name]?: string } {
  return value === "" ? {} : ({ [name]: value } as { readonly [N in Name]: string });
}

/** Days start and end in local time. */
function momentOf(day: string, time: string): string {
  const date = new Date(`${day}T${time}`);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Invalid numbers are sent unchanged, so that the service reports the error. */
function secondsOf(text: string): string {
  const trimmed = text.trim().replace(",", ".");
  return trimmed === "" ? "" : `${trimmed}s`;
}

/** Null without metadata; a line without `=` means a key with an empty value. */
export function metadataOf(text: string): Record<string, string> | null {
  const pairs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const at = line.indexOf("=");
      return at === -1 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
  return pairs.length === 0 ? null : (Object.fromEntries(pairs) as Record<string, string>);
}
