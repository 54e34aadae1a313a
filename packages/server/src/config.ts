/**
 * The only reader of the environment. A wrong value stops the start with a sentence that names the variable; an
 * unset or empty variable takes its default.
 */

import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import type { TurnTakingSettings } from "./call/plan.ts";
import { flag, httpUrl, optional, readBy, whole } from "./env-fields.ts";
import { readTrustedProxies } from "./http/trusted-proxies.ts";
import { checkKeepingFields, KEEPING_FIELDS, keepingOf, type Keeping } from "./keeping.ts";
import { readAllowedTargets, type AllowedTargets } from "./net/address-filter.ts";
import {
  readAnnouncedAddress,
  readIceServers,
  readPortRange,
  type WebRtcSettings,
} from "./webrtc-settings.ts";

/** One engine behind an OpenAI-compatible server. */
export interface OpenAiTarget {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

export interface Config extends Keeping {
  readonly port: number;
  readonly host: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly secretsKey: string | null;
  readonly apiKey: string | null;
  readonly llm: OpenAiTarget | null;
  readonly stt: OpenAiTarget | null;
  readonly tts: (OpenAiTarget & { readonly voice: string }) | null;
  readonly rateLimitPerKey: number;
  readonly rateLimitPerAccount: number;
  /** New calls of each account, in any second and in any minute; null: no limit. */
  readonly callsPerSecondPerAccount: number | null;
  readonly callsPerMinutePerAccount: number | null;
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Besides public addresses, where requests may go whose URLs users name. */
  readonly allowPrivateTargets: AllowedTargets;
  /** Whether the web console is served at `/`. */
  readonly console: boolean;
  readonly lenientFields: boolean;
  readonly apiNames: "neutral" | "vendor";
  /** Under which the accounts have their SIP domains. */
  readonly sipHost: string;
  readonly logLevel: LogLevel;
  readonly maxLiveCalls: number;
  /** Of these, what calls of batches leave to callers and to calls made by hand. */
  readonly liveCallsKeptFree: number;
  readonly maxJoinTimeoutMs: number;
  readonly maxCallDurationMs: number;
  readonly drainTimeoutMs: number;
  readonly smartTurnModel: SmartTurnFile;
  /** Null: no traces are sent. */
  readonly traces: TraceTarget | null;
  readonly turnTaking: TurnTakingSettings;
  readonly webRtc: WebRtcSettings;
}

/** A collector of OpenTelemetry traces, by OTLP over HTTP. */
export interface TraceTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Where the turn detector that listens finds its model. */
export interface SmartTurnFile {
  readonly path: string;
  /** Named by the operator, who should hear when it is not there. */
  readonly isNamed: boolean;
}

/** A configuration that cannot be used; `message` is one sentence for the person who starts the service. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";

/** Default, unit and reason of every turn-taking setting that the wire does not carry. In milliseconds, where the name says so. */
const TURN_TAKING: Record<
  keyof TurnTakingSettings,
  { env: string; byDefault: number; min: number; max: number }
> = {
  // 6 VAD frames: half of the default endpoint delay, so that a recogniser and a model that need up to 192 ms
  // together cost the caller nothing. Shorter starts work for every breath.
  speculationDelayMs: { env: "TURN_SPECULATION_DELAY_MS", byDefault: 192, min: 32, max: 5_000 },
  // One VAD frame below the threshold: with engines of 380 ms in all, the reply then begins with the end of the turn.
  // Each early request costs a recogniser's work that is sometimes in vain; 192 and more turns them off.
  transcriptDelayMs: { env: "TURN_TRANSCRIPT_DELAY_MS", byDefault: 32, min: 32, max: 5_000 },
  // The wire's 90 ms only pauses; half a second of voice is more than a cough (200 to 350 ms) and is meant, unless the
  // recogniser then says that it was "yeah, okay".
  interruptionConfirmMs: { env: "TURN_INTERRUPTION_CONFIRM_MS", byDefault: 500, min: 100, max: 5_000 },
  // Long enough for a recogniser to bring words, short enough that the gap does not sound like a dead line.
  resumeAfterSilenceMs: { env: "TURN_RESUME_AFTER_SILENCE_MS", byDefault: 1_000, min: 200, max: 10_000 },
  // Batch recognisers answer a turn in 0.2 to 2 s; beyond 6 s the caller has already asked "hello?".
  transcriptTimeoutMs: { env: "TURN_TRANSCRIPT_TIMEOUT_MS", byDefault: 6_000, min: 500, max: 30_000 },
  // A loaded local model may take seconds to its first token; a cold one is retried.
  replyTimeoutMs: { env: "TURN_REPLY_TIMEOUT_MS", byDefault: 8_000, min: 500, max: 60_000 },
  // A stream that has begun and then says nothing for this long is dead.
  replyStallMs: { env: "TURN_REPLY_STALL_MS", byDefault: 5_000, min: 500, max: 60_000 },
  // Voices answer within 0.3 s; after 4 s the sentence is tried once more.
  synthesisTimeoutMs: { env: "TURN_SYNTHESIS_TIMEOUT_MS", byDefault: 4_000, min: 500, max: 30_000 },
  // Lets a restarting engine come back without hammering it.
  engineRetryDelayMs: { env: "ENGINE_RETRY_DELAY_MS", byDefault: 500, min: 10, max: 10_000 },
  // What a caller can be asked to bear before the call is given up.
  engineFailureLimitMs: { env: "ENGINE_FAILURE_LIMIT_MS", byDefault: 15_000, min: 1_000, max: 120_000 },
  // Clients re-dial within seconds or not at all.
  reconnectGraceMs: { env: "RECONNECT_GRACE_MS", byDefault: 10_000, min: 0, max: 60_000 },
  // The time of the call is over, and D133 gives its message no more than half a minute.
  partingLimitMs: { env: "PARTING_LIMIT_MS", byDefault: 30_000, min: 1_000, max: 30_000 },
  // About 4,500 characters of speech. Longer messages are cut; a voice that stops is noticed long before.
  farewellLimitMs: { env: "FAREWELL_LIMIT_MS", byDefault: 300_000, min: 1_000, max: 1_800_000 },
  // One uninterrupted minute is what one utterance of a recogniser holds.
  maximumTurnMs: { env: "TURN_MAXIMUM_MS", byDefault: 60_000, min: 5_000, max: 600_000 },
  // About five minutes of speech.
  maximumReplyChars: { env: "REPLY_MAXIMUM_CHARS", byDefault: 5_000, min: 200, max: 100_000 },
  // Fits, with a reply, into the 32,768 tokens that local models are commonly run with. An hour and a half of talk takes as much.
  // The history itself ends at 400,000 characters, so more than 100,000 only helps a long system prompt.
  contextWindowTokens: { env: "CONTEXT_WINDOW_TOKENS", byDefault: 24_000, min: 1_000, max: 1_000_000 },
  // An audio judge needs 10 to 100 ms, and most of that passes within the endpoint delay anyway.
  judgementWaitMs: { env: "TURN_JUDGEMENT_WAIT_MS", byDefault: 200, min: 0, max: 2000 },
  // Most pauses within a sentence are shorter than 1.2 s; together with the default endpoint this bridges them.
  unfinishedExtraMs: { env: "TURN_UNFINISHED_EXTRA_MS", byDefault: 800, min: 0, max: 3000 },
  // Nobody ends with "and the": such a pause is thinking, which takes a second or two. D128 allows 3 s.
  clearlyUnfinishedExtraMs: { env: "TURN_CLEARLY_UNFINISHED_EXTRA_MS", byDefault: 2000, min: 0, max: 3000 },
  // "Please say it again" is never urgent, and words that follow make it needless.
  notUnderstoodExtraMs: { env: "TURN_NOT_UNDERSTOOD_EXTRA_MS", byDefault: 600, min: 0, max: 3000 },
  // A slow speaker pauses for half a second within sentences; a second of waiting is as much as others bear.
  adaptiveEndpointMaxMs: { env: "TURN_ADAPTIVE_ENDPOINT_MAX_MS", byDefault: 1000, min: 0, max: 3000 },
  // Both start at once, or the first echo comes back before its level is known: not meant as an interruption.
  interruptionGraceMs: { env: "TURN_INTERRUPTION_GRACE_MS", byDefault: 400, min: 0, max: 5000 },
  // "Mhm, yeah, okay" takes less than a second; who goes on longer wants to speak. Until then words are waited for, which
  // costs nothing: the agent is silent already.
  backchannelMaxMs: { env: "TURN_BACKCHANNEL_MAX_MS", byDefault: 1000, min: 0, max: 5000 },
  // Buffers of client and network hold up to half a second.
  echoTailMs: { env: "TURN_ECHO_TAIL_MS", byDefault: 600, min: 0, max: 3000 },
};

const Environment = z
  .object({
    PORT: whole(0, 65_535).default(8080),
    HOST: z.string().default("127.0.0.1"),
    PUBLIC_URL: httpUrl.optional(),
    DATA_DIR: z.string().default("./data"),
    DATABASE_URL: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "must be a postgres:// URL")
      .optional(),
    SECRETS_KEY: z
      .string()
      .refine((text) => Buffer.from(text, "base64").length === 32, "must be 32 bytes in base64")
      .optional(),
    API_KEY: z
      .string()
      .regex(
        /^[a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32}$/,
        "must be 8 letters or digits, a dot, and 32 letters or digits (or unset: the first start makes one)",
      )
      .optional(),
    OPENAI_API_KEY: optional,
    LLM_BASE_URL: httpUrl.optional(),
    LLM_API_KEY: optional,
    LLM_MODEL: optional,
    STT_BASE_URL: httpUrl.optional(),
    STT_API_KEY: optional,
    STT_MODEL: optional,
    TTS_BASE_URL: httpUrl.optional(),
    TTS_API_KEY: optional,
    TTS_MODEL: optional,
    TTS_VOICE: optional,
    RATE_LIMIT_PER_KEY: whole(0, 1_000_000).default(200),
    RATE_LIMIT_PER_ACCOUNT: whole(0, 1_000_000).default(500),
    // Each creation looks up that many entries of an index at most, so they are bounded.
    CALLS_PER_SECOND_PER_ACCOUNT: whole(1, 1_000).optional(),
    CALLS_PER_MINUTE_PER_ACCOUNT: whole(1, 10_000).optional(),
    TRUSTED_PROXIES: readBy(readTrustedProxies).default([]),
    CORS_ORIGINS: optional,
    ALLOW_PRIVATE_TARGETS: readBy(readAllowedTargets).default([]),
    CONSOLE: flag.default(true),
    ...KEEPING_FIELDS,
    LENIENT_FIELDS: flag.default(false),
    SIP_HOST: z
      .string()
      .max(190, "must have at most 190 characters")
      .regex(
        /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i,
        "must be a host name",
      )
      .optional(),
    API_NAMES: z.enum(["neutral", "vendor"], { message: "must be neutral or vendor" }).default("neutral"),
    LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
    // A bound on memory and CPU rather than a licence: 100 calls fit two small cores, see docs/benchmarks.md.
    MAX_LIVE_CALLS: whole(1, 100_000).default(200),
    LIVE_CALLS_KEPT_FREE: whole(0, 99_999).optional(),
    // The interface's own bounds; a deployment may only lower them.
    MAX_JOIN_TIMEOUT_MS: whole(1_000, 3_600_000).default(3_600_000),
    MAX_CALL_DURATION_MS: whole(1_000, 86_400_000).default(86_400_000),
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
    OTEL_EXPORTER_OTLP_HEADERS: z
      .string()
      .regex(/^\s*[\w-]+\s*=[^,]*(,\s*[\w-]+\s*=[^,]*)*$/, "must be a list such as name=value,other=value")
      .optional(),
    // Calls under way get this long when the service is told to stop.
    DRAIN_TIMEOUT_MS: whole(0, 3_600_000).default(20_000),
    SMART_TURN_MODEL: optional,
    ICE_SERVERS: readBy(readIceServers).default([]),
    WEBRTC_PORT_RANGE: readBy(readPortRange).optional(),
    WEBRTC_ANNOUNCED_ADDRESS: readBy(readAnnouncedAddress).optional(),
  })
  .superRefine(checkKeepingFields);

type Environment = z.infer<typeof Environment>;

/**
 * @throws ConfigError for the first wrong variable, named in its message.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const parsed = Environment.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`${String(issue?.path[0] ?? "The environment")} ${issue?.message ?? "is wrong"}.`);
  }
  const values = parsed.data;
  if (values.DATABASE_URL !== undefined && values.SECRETS_KEY === undefined) {
    throw new ConfigError(
      "SECRETS_KEY is required together with DATABASE_URL (32 bytes in base64, for example from `openssl rand -base64 32`).",
    );
  }
  const publicUrl = values.PUBLIC_URL ?? defaultPublicUrl(values.HOST, values.PORT);
  return {
    port: values.PORT,
    host: values.HOST,
    publicUrl,
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL ?? null,
    secretsKey: values.SECRETS_KEY ?? null,
    apiKey: values.API_KEY ?? null,
    ...engines(values),
    rateLimitPerKey: values.RATE_LIMIT_PER_KEY,
    rateLimitPerAccount: values.RATE_LIMIT_PER_ACCOUNT,
    callsPerSecondPerAccount: values.CALLS_PER_SECOND_PER_ACCOUNT ?? null,
    callsPerMinutePerAccount: values.CALLS_PER_MINUTE_PER_ACCOUNT ?? null,
    trustedProxies: values.TRUSTED_PROXIES,
    corsOrigins: (values.CORS_ORIGINS ?? "").split(/[\s,]+/).filter((origin) => origin !== ""),
    allowPrivateTargets: values.ALLOW_PRIVATE_TARGETS,
    console: values.CONSOLE,
    ...keepingOf(values),
    lenientFields: values.LENIENT_FIELDS,
    apiNames: values.API_NAMES,
    sipHost: values.SIP_HOST?.toLowerCase() ?? defaultSipHost(publicUrl),
    logLevel: values.LOG_LEVEL,
    maxLiveCalls: values.MAX_LIVE_CALLS,
    liveCallsKeptFree: keptFree(values),
    maxJoinTimeoutMs: values.MAX_JOIN_TIMEOUT_MS,
    maxCallDurationMs: values.MAX_CALL_DURATION_MS,
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    smartTurnModel: {
      path: values.SMART_TURN_MODEL ?? join(values.DATA_DIR, "models", "smart-turn-v3.onnx"),
      isNamed: values.SMART_TURN_MODEL !== undefined,
    },
    traces: traceTarget(values),
    turnTaking: turnTaking(present),
    webRtc: webRtcSettings(values),
  };
}

/** A batch waits, a caller does not: a fifth is as much as comes while calls of batches end. */
const SHARE_KEPT_FREE = 0.2;

function keptFree({ MAX_LIVE_CALLS: all, LIVE_CALLS_KEPT_FREE: kept }: Environment): number {
  if (kept !== undefined && kept >= all) {
    throw new ConfigError("LIVE_CALLS_KEPT_FREE must be less than MAX_LIVE_CALLS.");
  }
  return kept ?? Math.floor(all * SHARE_KEPT_FREE);
}

function webRtcSettings(values: Environment): WebRtcSettings {
  const { ICE_SERVERS: iceServers, WEBRTC_PORT_RANGE: range, WEBRTC_ANNOUNCED_ADDRESS: address } = values;
  return { iceServers, portRange: range ?? null, announcedAddress: address ?? null };
}

/** Values of headers are percent-encoded, as the OpenTelemetry specification has it. */
function traceTarget(values: Environment): TraceTarget | null {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return null;
  const pairs = (values.OTEL_EXPORTER_OTLP_HEADERS ?? "").split(",").filter((pair) => pair.trim() !== "");
  return {
    endpoint,
    headers: Object.fromEntries(
      pairs.map((pair) => {
        const [name = "", ...rest] = pair.split("=");
        return [name.trim(), decoded(rest.join("=").trim())];
      }),
    ),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError("OTEL_EXPORTER_OTLP_HEADERS must hold percent-encoded values.");
  }
}

/** A wildcard address is no place to connect to, so it prints as the loopback one. */
export function defaultPublicUrl(host: string, port: number): string {
  const shown = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${String(port)}`;
}

/** An address has no names below it; the names below `localhost` are this machine (RFC 6761). */
function defaultSipHost(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost";
}

function engines(values: Environment): Pick<Config, "llm" | "stt" | "tts"> {
  const llm = target(values, "LLM", "gpt-4.1-mini");
  const stt = target(values, "STT", "gpt-4o-mini-transcribe");
  const tts = target(values, "TTS", "gpt-4o-mini-tts");
  return { llm, stt, tts: tts === null ? null : { ...tts, voice: values.TTS_VOICE ?? "alloy" } };
}

/**
 * An engine is configured by its own base URL, by its own key (then the address is OpenAI's), or by `OPENAI_API_KEY`
 * for all three. The shared key is never sent to another address than OpenAI's.
 */
function target(
  values: Environment,
  prefix: "LLM" | "STT" | "TTS",
  openAiModel: string,
): OpenAiTarget | null {
  const baseUrl = values[`${prefix}_BASE_URL`];
  const ownKey = values[`${prefix}_API_KEY`];
  const model = values[`${prefix}_MODEL`];
  if (baseUrl !== undefined) {
    if (model === undefined) {
      throw new ConfigError(
        `${prefix}_MODEL is required together with ${prefix}_BASE_URL: name the model to use there.`,
      );
    }
    const shared = baseUrl === OPENAI_BASE_URL ? values.OPENAI_API_KEY : undefined;
    return { baseUrl, apiKey: ownKey ?? shared ?? null, model };
  }
  const key = ownKey ?? values.OPENAI_API_KEY;
  if (key !== undefined) return { baseUrl: OPENAI_BASE_URL, apiKey: key, model: model ?? openAiModel };
  if (model !== undefined) {
    throw new ConfigError(`${prefix}_MODEL needs ${prefix}_BASE_URL or ${prefix}_API_KEY beside it.`);
  }
  return null;
}

function turnTaking(env: Readonly<Record<string, string | undefined>>): TurnTakingSettings {
  const read = (name: keyof TurnTakingSettings): number => {
    const row = TURN_TAKING[name];
    const text = env[row.env];
    if (text === undefined) return row.byDefault;
    const parsed = whole(row.min, row.max).safeParse(text);
    if (!parsed.success) {
      throw new ConfigError(
        `${row.env} ${parsed.error.issues[0]?.message ?? "is wrong"}${row.env.endsWith("_MS") ? " (milliseconds)" : ""}.`,
      );
    }
    return parsed.data;
  };
  const names = Object.keys(TURN_TAKING) as (keyof TurnTakingSettings)[];
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<
    keyof TurnTakingSettings,
    number
  >;
}

/** What the service and its benches use when the environment says nothing. */
export const DEFAULT_TURN_TAKING: TurnTakingSettings = turnTaking({});
