/** Requests to the REST interface of a carrier: one attempt, and what its answer says about the call. */

import type { CarrierFinding, DialOutcome, HangUpOutcome } from "../../ports/carriers.ts";
import { wasNotSent, type GuardedClient, type GuardedResponse } from "../../net/guarded-fetch.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface CarrierHttp {
  readonly client: Pick<GuardedClient, "request">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export interface CarrierPost {
  readonly method: "GET" | "POST" | "DELETE";
  /** Begins with a slash; its parts are encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Longer than carriers take, and than connecting may take (10 s), so that a carrier that is down is told from a slow one. */
const REQUEST_LIMIT_MS = 15_000;
/** Answers have a few KB. */
const MAX_ANSWER_BYTES = 65_536;
/** A carrier's sentence is at most about this long. */
const MAX_REASON_CHARS = 300;
/** A carrier that names no time recovers within seconds. */
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** The parts of an answer that adapters read. */
export interface CarrierAnswer {
  readonly status: number;
  /** Undefined: the body is not JSON, or is longer than answers are. */
  readonly json: unknown;
  readonly retryAfterMs: number | null;
}

/** @throws what `GuardedClient.request` throws */
export async function askCarrier(
  { client, baseUrl }: CarrierHttp,
  { method, path, headers, body }: CarrierPost,
  signal: AbortSignal,
): Promise<CarrierAnswer> {
  const request = {
    url: `${baseUrl}${path}`,
    method,
    headers: { accept: "application/json", ...headers },
    body,
    timeoutMs: REQUEST_LIMIT_MS,
    maxBodyBytes: MAX_ANSWER_BYTES,
  };
  const answer = await client.request(request, signal);
  return { status: answer.status, json: jsonOf(answer), retryAfterMs: retryAfterOf(answer) };
}

function jsonOf({ body, truncated }: GuardedResponse): unknown {
  if (truncated) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // Such as the HTML page of a proxy; the status says the rest.
    return undefined;
  }
}

function retryAfterOf({ headers }: GuardedResponse): number | null {
  const seconds = headers["retry-after"] ?? "";
  if (!/^\d{1,6}$/.test(seconds)) return null;
  return Math.min(Math.max(Number(seconds), 1), MAX_RETRY_AFTER_SECONDS) * 1000;
}

/** What one carrier's answers mean. */
export interface AnswerReading {
  /** The carrier, for people. */
  readonly carrier: string;
  /** The id of the call that a request has placed; null: the answer has none. */
  readonly callIdOf: (json: unknown) => string | null;
  /** The carrier's sentence about a failure; null: the answer has none. */
  readonly reasonOf: (json: unknown) => string | null;
  /** What must not appear in a message. */
  readonly secrets: readonly string[];
}

/** Statuses of a proxy that has lost the carrier's answer. */
const LOST_ANSWER: ReadonlySet<number> = new Set([502, 504]);
const TOO_MANY = 429;
const REQUEST_TIMEOUT = 408;

export async function dialBy(
  ask: () => Promise<CarrierAnswer>,
  reading: AnswerReading,
): Promise<DialOutcome> {
  const { carrier } = reading;
  let answer: CarrierAnswer;
  try {
    answer = await ask();
  } catch (error) {
    const reason = unreachable(error, reading);
    return wasNotSent(error)
      ? { kind: "refused", reason, isPermanent: false, isRateLimit: false, waitMs: null }
      : {
          kind: "unknown",
          reason: `the answer of ${carrier} was lost: ${cleaned(messageOf(error), reading.secrets)}`,
        };
  }
  const { status, json, retryAfterMs: waitMs } = answer;
  if (status >= 200 && status < 300) {
    const carrierCallId = reading.callIdOf(json);
    if (carrierCallId !== null) return { kind: "placed", carrierCallId };
    return { kind: "unknown", reason: `${carrier} answered HTTP ${status} without the id of a call` };
  }
  const reason = refusalOf(answer, reading);
  if (LOST_ANSWER.has(status) || status < 400) return { kind: "unknown", reason };
  const isPassing = status >= 500 || status === TOO_MANY || status === REQUEST_TIMEOUT;
  return { kind: "refused", reason, isPermanent: !isPassing, isRateLimit: status === TOO_MANY, waitMs };
}

/** The request cannot be sent as it is. */
export function refusedHere(reason: string): DialOutcome {
  return { kind: "refused", reason, isPermanent: true, isRateLimit: false, waitMs: null };
}

/** `isOver`: whether the answer, besides a 404 that is from the carrier, says that the call is over. */
export async function hangUpBy(
  ask: () => Promise<CarrierAnswer>,
  reading: Pick<AnswerReading, "carrier" | "reasonOf" | "secrets">,
  isOver: (answer: CarrierAnswer) => boolean = () => false,
): Promise<HangUpOutcome> {
  try {
    const answer = await ask();
    const { status } = answer;
    const isUnknown = status === 404 && answer.json !== undefined;
    const isDone = (status >= 200 && status < 300) || isUnknown || isOver(answer);
    if (isDone) return { kind: "ended" };
    // A proxy that answers in place of the carrier may be passed the next time.
    const mayPass = status === TOO_MANY || status === REQUEST_TIMEOUT || status === 404;
    const isPermanent = status >= 400 && status < 500 && !mayPass;
    return { kind: "failed", reason: refusalOf(answer, reading), isPermanent };
  } catch (error) {
    return { kind: "failed", reason: unreachable(error, reading), isPermanent: false };
  }
}

/** What is wrong with a configuration, by the answer to a request that changes nothing; an error alone where there is none. */
export async function checkBy(
  ask: () => Promise<CarrierAnswer>,
  reading: AnswerReading,
  findingsOf: (answer: CarrierAnswer) => readonly CarrierFinding[],
): Promise<readonly CarrierFinding[]> {
  let answer: CarrierAnswer;
  try {
    answer = await ask();
  } catch (error) {
    return [{ severity: "error", field: null, message: `${unreachable(error, reading)}.` }];
  }
  if (answer.json === undefined && isPage(answer.status)) {
    const message = `The address of the REST interface of ${reading.carrier} does not answer like ${reading.carrier}: HTTP ${answer.status} with something that is not from its REST interface, such as the page of a proxy. Check the base URL of the carrier in the settings of this service, and proxies on the way.`;
    return [{ severity: "error", field: null, message }];
  }
  return findingsOf(answer);
}

/** Carriers answer in JSON, but for failures of their servers, and for credentials that one of them refuses in plain text. */
function isPage(status: number): boolean {
  return status < 500 && status !== 401;
}

/** For an answer whose status says nothing about a field. */
export function refusedCheck(answer: CarrierAnswer, reading: AnswerReading): CarrierFinding {
  return { severity: "error", field: null, message: `${refusalOf(answer, reading)}.` };
}

function unreachable(
  error: unknown,
  { carrier, secrets }: Pick<AnswerReading, "carrier" | "secrets">,
): string {
  return `${carrier} cannot be reached: ${cleaned(messageOf(error), secrets)}`;
}

/** A sentence with the carrier's words. */
export function refusalOf(
  { status, json }: CarrierAnswer,
  { carrier, reasonOf, secrets }: Pick<AnswerReading, "carrier" | "reasonOf" | "secrets">,
): string {
  const words = reasonOf(json);
  if (words === null) return `${carrier} answered HTTP ${status}`;
  return `${carrier} answered HTTP ${status}: ${cleaned(words, secrets)}`;
}

/** One line of limited length without secrets. */
export function cleaned(text: string, secrets: readonly string[]): string {
  let line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  for (const secret of secrets) if (secret !== "") line = line.replaceAll(secret, "…");
  return line.length > MAX_REASON_CHARS ? `${line.slice(0, MAX_REASON_CHARS)}…` : line;
}

/** Undefined: there is no such member. */
export function memberAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  let value: unknown = json;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** The member of an object as text; null: it is absent, empty or no text. */
export function textAt(json: unknown, ...path: readonly (string | number)[]): string | null {
  const value = memberAt(json, ...path);
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`;
}

/** Ids of calls become parts of paths, and are stored. */
const MAX_ID_CHARS = 200;

export function idAt(json: unknown, ...path: readonly (string | number)[]): string | null {
  const id = textAt(json, ...path);
  return id !== null && id.length <= MAX_ID_CHARS && /^[\x21-\x7e]+$/.test(id) ? id : null;
}

/** Whole seconds of a duration, at least `least` and at most `most`. */
export function secondsOf(ms: number, least: number, most: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000), least), most);
}

/**
 * The carrier's parameters over the defaults of the service, and what the service controls over both. The names of the
 * last are compared without case and underscores, so that no other spelling of one is sent beside it.
 */
export function mergedParams(
  defaults: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  controlled: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");
  const own = new Set(Object.keys(controlled).map(plain));
  const chosen = new Set(Object.keys(given).map(plain));
  const merged = [
    ...Object.entries(defaults).filter(([name]) => !chosen.has(plain(name))),
    ...Object.entries(given).filter(([name]) => !own.has(plain(name))),
    ...Object.entries(controlled),
  ];
  return Object.fromEntries(merged);
}
