/**
 * The only reader of the environment. A wrong value stops the start with a sentence that names the variable; an
 * unset or empty variable takes its default.
 */

import { isIP } from "node:net";
import { join } from "node:path";
import type { AllowedTargets } from "../net/address-filter.ts";
import type { NodeAddress } from "../net/node-address.ts";
import type { Aliases } from "../plan/name-aliases.ts";
import type { TurnTakingSettings } from "../plan/turn-taking.ts";
import type { VendorTarget } from "../providers/llm-sdk/vendor-target.ts";
import type { S3Settings } from "../providers/recordings/s3-recordings.ts";
import type { Metering } from "../store/accounts/metering.ts";
import { corporaOf, type CorpusSettings } from "./corpora/limits.ts";
import { telnyxLinearOrderOf } from "./carrier-streams.ts";
import { carrierAddressesOf, type CarrierAddresses } from "./carriers.ts";
import type { Environment, LogLevel } from "./environment.ts";
import { defaultTakesAudio, vendorTargets } from "./language-models.ts";
import { localModelsOf, type LocalModels } from "./local-models.ts";
import { engineLimitsOf, fallbacksOf, type EngineLimits } from "./fallback-engines.ts";
import type { Fallbacks } from "./engines-file/listed-engine.ts";
import { modelFieldsOf, modelServersOf, type ModelFields, type ModelServers } from "./model-servers.ts";
import { pricesOf, type PriceTable } from "./prices.ts";
import { recognisersOf, type Recognisers } from "./recognisers.ts";
import { retrievalOf, type RetrievalSettings } from "./corpora/retrieval.ts";
import { bucketOf } from "./recordings-bucket.ts";
import { readEnvironment } from "./read-environment.ts";
import { retentionOf, type Retention } from "./retention.ts";
import { traceTargetOf, type TraceTarget } from "./traces.ts";
import { turnTakingOf } from "./turn-taking.ts";
import { voiceProvidersOf, type VoiceProviderTargets } from "./voice-providers.ts";
import { rtpOf, type RtpSettings } from "./rtp.ts";
import { sipOf, type SipSettings } from "./sip.ts";
import { webRtcOf, type WebRtcSettings } from "./webrtc.ts";
import { wantedWorkers, type WantedWorkers, type WorkerPlace } from "./workers/workers.ts";

export interface Config extends ModelServers, Recognisers, Retention, CorpusSettings {
  readonly port: number;
  readonly host: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  /** Folder of what belongs to this process alone: its lock, name, journal and previews. DATA_DIR, except in workers. */
  readonly nodeDir: string;
  readonly workers: WantedWorkers;
  /** Null: the service is one process. */
  readonly worker: WorkerPlace | null;
  readonly databaseUrl: string | null;
  /** Where other nodes reach this one, and the port of its internal listener; null: there are no others. */
  readonly nodeAddress: NodeAddress | null;
  readonly secretsKey: string | null;
  readonly apiKey: string | null;
  /** Where the first key is written; null: it is printed. */
  readonly apiKeyFile: string | null;
  /** Allows requests to change the deployment; null: it is in the file, or no request may. */
  readonly operatorKey: string | null;
  /** Where it is read from; a start without the file makes one. */
  readonly operatorKeyFile: string | null;
  /** The variables that set the engines, which are merged with what the operator has stored. */
  readonly modelFields: ModelFields;
  /** Vendors of external voices. */
  readonly voiceProviders: VoiceProviderTargets;
  /** Carriers of telephone calls. */
  readonly carrierAddresses: CarrierAddresses;
  /** The engines that take over from the first one of their kind, in their order. */
  readonly fallbacks: Fallbacks;
  readonly engineLimits: EngineLimits;
  /** What the operator pays for engines; null: calls have no costs. */
  readonly prices: PriceTable | null;
  readonly rateLimitPerKey: number;
  readonly rateLimitPerAccount: number;
  /** New calls of each account, in any second and in any minute; null: no limit. */
  readonly callsPerSecondPerAccount: number | null;
  readonly callsPerMinutePerAccount: number | null;
  /** Addresses and ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Open connections of an address, calls excluded; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  readonly corsOrigins: readonly string[];
  /** Besides public addresses, where requests to URLs of users may go. */
  readonly allowPrivateTargets: AllowedTargets;
  /** Whether the web console is served at `/`. */
  readonly console: boolean;
  readonly ignoreUnknownFields: boolean;
  readonly apiNames: "neutral" | "vendor";
  /** Further names of voices and models; their targets are checked once the engines are open. */
  readonly aliases: Aliases;
  /** Models of vendors that the aliases of models name. */
  readonly vendorModels: readonly VendorTarget[];
  /** Whether the model with the name `default` is given the caller's voice. */
  readonly llmTakesAudio: boolean;
  /** The accounts' SIP domains are names below it. */
  readonly sipHost: string;
  readonly logLevel: LogLevel;
  readonly maxLiveCalls: number;
  /** Of these, how many calls of batches leave free for callers and for calls created by a request. */
  readonly reservedLiveCalls: number;
  readonly maxJoinTimeoutMs: number;
  readonly maxCallDurationMs: number;
  /** Whether the language model writes summaries of calls. */
  readonly summaries: boolean;
  /** How the joined time of calls is counted. */
  readonly metering: Metering;
  readonly drainTimeoutMs: number;
  /** How long a call whose process is gone waits for its client; 0: not at all, and nothing is stored for it. */
  readonly resumeTimeoutMs: number;
  readonly smartTurnModel: SmartTurnFile;
  readonly localModels: LocalModels;
  /** Null: no traces are sent. */
  readonly traces: TraceTarget | null;
  readonly turnTaking: TurnTakingSettings;
  readonly webRtc: WebRtcSettings;
  /** Null: no calls over SIP, because SIP_HOST is not set. */
  readonly sip: SipSettings | null;
  /** Media of calls over SIP. */
  readonly rtp: RtpSettings;
  /** The byte order of linear samples in streams of Telnyx. */
  readonly telnyxLinearOrder: "s16be" | "s16le";
  /** Null: recordings and uploaded documents stay in DATA_DIR. */
  readonly recordingsBucket: S3Settings | null;
  /** How corpora are searched. */
  readonly retrieval: RetrievalSettings;
}

/** The model file of the turn detector that works on audio. */
export interface SmartTurnFile {
  readonly path: string;
  /** Set by the operator, who gets a warning when the file does not exist. */
  readonly isNamed: boolean;
}

/**
 * @throws ConfigError that names every wrong variable.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values = readEnvironment(env);
  const publicUrl = values.PUBLIC_URL ?? defaultPublicUrl(values.HOST, values.PORT);
  return {
    port: values.PORT,
    host: values.HOST,
    publicUrl,
    dataDir: values.DATA_DIR,
    nodeDir: values.DATA_DIR,
    workers: wantedWorkers(values),
    worker: null,
    databaseUrl: values.DATABASE_URL ?? null,
    nodeAddress: values.NODE_ADDRESS ?? null,
    secretsKey: values.SECRETS_KEY ?? null,
    apiKey: values.API_KEY ?? null,
    apiKeyFile: values.API_KEY_FILE ?? null,
    operatorKey: values.OPERATOR_KEY ?? null,
    operatorKeyFile: values.OPERATOR_KEY_FILE ?? null,
    modelFields: modelFieldsOf(values),
    ...modelServersOf(values),
    voiceProviders: voiceProvidersOf(values),
    carrierAddresses: carrierAddressesOf(values),
    ...recognisersOf(values),
    fallbacks: fallbacksOf(values, env),
    engineLimits: engineLimitsOf(values),
    prices: pricesOf(values),
    rateLimitPerKey: values.RATE_LIMIT_PER_KEY,
    rateLimitPerAccount: values.RATE_LIMIT_PER_ACCOUNT,
    callsPerSecondPerAccount: values.CALLS_PER_SECOND_PER_ACCOUNT ?? null,
    callsPerMinutePerAccount: values.CALLS_PER_MINUTE_PER_ACCOUNT ?? null,
    trustedProxies: values.TRUSTED_PROXIES,
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    corsOrigins: (values.CORS_ORIGINS ?? "").split(/[\s,]+/).filter((origin) => origin !== ""),
    allowPrivateTargets: values.ALLOW_PRIVATE_TARGETS,
    console: values.CONSOLE,
    ignoreUnknownFields: values.IGNORE_UNKNOWN_FIELDS,
    apiNames: values.API_NAMES,
    aliases: { voices: values.VOICE_ALIASES, models: values.MODEL_ALIASES },
    vendorModels: vendorTargets(values),
    llmTakesAudio: defaultTakesAudio(values),
    sipHost: values.SIP_HOST?.toLowerCase() ?? defaultSipHost(publicUrl),
    logLevel: values.LOG_LEVEL,
    maxLiveCalls: values.MAX_LIVE_CALLS,
    reservedLiveCalls: reserved(values),
    maxJoinTimeoutMs: values.MAX_JOIN_TIMEOUT_MS,
    maxCallDurationMs: values.MAX_CALL_DURATION_MS,
    summaries: values.SUMMARIES,
    metering: meteringOf(values),
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    resumeTimeoutMs: values.RESUME_TIMEOUT_MS,
    smartTurnModel: {
      path: values.SMART_TURN_MODEL ?? join(values.DATA_DIR, "models", "smart-turn-v3.onnx"),
      isNamed: values.SMART_TURN_MODEL !== undefined,
    },
    localModels: localModelsOf(values),
    traces: traceTargetOf(values),
    turnTaking: turnTakingOf(values),
    webRtc: webRtcOf(values),
    sip: sipOf(values),
    rtp: rtpOf(values),
    telnyxLinearOrder: telnyxLinearOrderOf(values),
    ...retentionOf(values),
    ...corporaOf(values),
    recordingsBucket: bucketOf(values),
    retrieval: retrievalOf(values),
  };
}

function meteringOf(values: Environment): Config["metering"] {
  return {
    unitMs: values.BILLING_UNIT_MS,
    enabled: values.METERING,
    consoleIsFree: values.CONSOLE_CALLS_FREE,
  };
}

/** A batch can wait, a caller cannot: a fifth is as much as arrives while calls of batches end. */
const RESERVED_SHARE = 0.2;

function reserved({ MAX_LIVE_CALLS: all, RESERVED_LIVE_CALLS: given }: Environment): number {
  return given ?? Math.floor(all * RESERVED_SHARE);
}

/** Nobody can connect to a wildcard address, so it is replaced by the loopback address. */
export function defaultPublicUrl(host: string, port: number): string {
  const shown = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${String(port)}`;
}

/** An address has no names below it; the names below `localhost` are this machine (RFC 6761). */
function defaultSipHost(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost";
}
