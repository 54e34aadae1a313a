/**
 * Every variable that the service reads, with its form and its default. `docs/settings.md` lists them; a test compares
 * the two.
 */

import { z } from "zod";
import { checkRetrievalFields, RETRIEVAL_FIELDS } from "./corpora/retrieval.ts";
import { readAllowedTargets } from "../net/address-filter.ts";
import { readNodeAddress } from "../net/node-address.ts";
import { readTrustedProxies } from "../net/trusted-proxies.ts";
import { ALIAS_FIELDS } from "./aliases.ts";
import { CARRIER_FIELDS } from "./carriers.ts";
import { flag, httpUrl, optional, readBy, whole } from "./env-fields.ts";
import { CARRIER_STREAM_FIELDS } from "./carrier-streams.ts";
import { LANGUAGE_MODEL_FIELDS } from "./language-models.ts";
import { LOCAL_MODEL_FIELDS } from "./local-models.ts";
import { CORPUS_FIELDS } from "./corpora/limits.ts";
import { FALLBACK_FIELDS } from "./fallback-engines.ts";
import { MODEL_FIELDS } from "./model-servers.ts";
import { PRICE_FIELDS } from "./prices.ts";
import { RECOGNISER_FIELDS } from "./recognisers.ts";
import { BUCKET_FIELDS, checkBucketFields } from "./recordings-bucket.ts";
import { RETENTION_FIELDS } from "./retention.ts";
import { RTP_FIELDS } from "./rtp.ts";
import { checkSipFields, SIP_FIELDS } from "./sip.ts";
import { TRACE_FIELDS } from "./traces.ts";
import { TURN_TAKING_FIELDS } from "./turn-taking.ts";
import { VOICE_PROVIDER_FIELDS } from "./voice-providers.ts";
import { WEBRTC_FIELDS } from "./webrtc.ts";
import { WORKER_FIELDS } from "./workers/workers.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** 24 random characters of base64 have 144 bits. */
export const OPERATOR_KEY = /^[\x21-\x7e]{24,200}$/;
export const OPERATOR_KEY_FORM =
  "must be 24 to 200 printable ASCII characters without spaces, for example from `openssl rand -base64 32`";

const SERVER_FIELDS = {
  PORT: whole(0, 65_535).default(8080),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: httpUrl.optional(),
  CONSOLE: flag.default(true),
  API_KEY: z
    .string()
    .regex(
      /^[a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32}$/,
      "must be 8 letters or digits, a dot, and 32 letters or digits (or unset: the first start makes one)",
    )
    .optional(),
  API_KEY_FILE: optional,
  OPERATOR_KEY: z.string().regex(OPERATOR_KEY, OPERATOR_KEY_FORM).optional(),
  OPERATOR_KEY_FILE: optional,
  TRUSTED_PROXIES: readBy(readTrustedProxies).default([]),
  MAX_CONNECTIONS_PER_ADDRESS: whole(0, 10_000).default(200),
  CORS_ORIGINS: optional,
  ALLOW_PRIVATE_TARGETS: readBy(readAllowedTargets).default([]),
  IGNORE_UNKNOWN_FIELDS: flag.default(false),
  API_NAMES: z.enum(["neutral", "vendor"], { message: "must be neutral or vendor" }).default("neutral"),
  // Running calls get this long when the service is stopped.
  DRAIN_TIMEOUT_MS: whole(0, 3_600_000).default(20_000),
  LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
};

const DATABASE_FIELDS = {
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, "must be a postgres:// URL")
    .optional(),
  SECRETS_KEY: z
    .string()
    .refine((text) => Buffer.from(text, "base64").length === 32, "must be 32 bytes in base64")
    .optional(),
  NODE_ADDRESS: readBy(readNodeAddress).optional(),
};

const CALL_FIELDS = {
  // Bounds memory and CPU: 100 calls fit two small cores, see docs/benchmarks.md.
  MAX_LIVE_CALLS: whole(1, 100_000).default(200),
  RESERVED_LIVE_CALLS: whole(0, 99_999).optional(),
  // The bounds of the API; a deployment can only lower them.
  MAX_JOIN_TIMEOUT_MS: whole(1_000, 3_600_000).default(3_600_000),
  MAX_CALL_DURATION_MS: whole(1_000, 86_400_000).default(86_400_000),
  // Callers whose service is gone wait half a minute; 0 ends their calls at once, and stores no snapshots.
  RESUME_TIMEOUT_MS: whole(0, 600_000).default(30_000),
  SUMMARIES: flag.default(true),
  // Carriers bill by 6 s; a minute is the other common unit. No tariff has a unit longer than an hour.
  BILLING_UNIT_MS: whole(1, 3_600_000).default(6_000),
  METERING: flag.default(true),
  CONSOLE_CALLS_FREE: flag.default(true),
  SMART_TURN_MODEL: optional,
};

const LIMIT_FIELDS = {
  RATE_LIMIT_PER_KEY: whole(0, 1_000_000).default(200),
  RATE_LIMIT_PER_ACCOUNT: whole(0, 1_000_000).default(500),
  // Each creation of a call reads at most that many entries of an index.
  CALLS_PER_SECOND_PER_ACCOUNT: whole(1, 1_000).optional(),
  CALLS_PER_MINUTE_PER_ACCOUNT: whole(1, 10_000).optional(),
};

export const Environment = z
  .object({
    ...SERVER_FIELDS,
    ...WORKER_FIELDS,
    ...DATABASE_FIELDS,
    ...MODEL_FIELDS,
    ...VOICE_PROVIDER_FIELDS,
    ...CARRIER_FIELDS,
    ...LOCAL_MODEL_FIELDS,
    ...RECOGNISER_FIELDS,
    ...FALLBACK_FIELDS,
    ...PRICE_FIELDS,
    ...ALIAS_FIELDS,
    ...LANGUAGE_MODEL_FIELDS,
    ...CALL_FIELDS,
    ...TURN_TAKING_FIELDS,
    ...RETENTION_FIELDS,
    ...BUCKET_FIELDS,
    ...CORPUS_FIELDS,
    ...LIMIT_FIELDS,
    ...WEBRTC_FIELDS,
    ...RTP_FIELDS,
    ...SIP_FIELDS,
    ...CARRIER_STREAM_FIELDS,
    ...TRACE_FIELDS,
    ...RETRIEVAL_FIELDS,
  })
  .superRefine(checkBucketFields)
  .superRefine(checkSipFields)
  .superRefine(checkRetrievalFields);

export type Environment = z.infer<typeof Environment>;
