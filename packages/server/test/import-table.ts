/**
 * Which folder of the server may import which, and which packages: the layers of ARCHITECTURE.md, whose table changes
 * with this one.
 */

const SCHEMA_PACKAGE = "@parley/schema";

export interface Rule {
  /** Folders, besides its own, whose files it may import. `jobs/definitions` allows that folder alone. */
  readonly folders: readonly string[];
  /** Folders of which it may import types only. */
  readonly typesOf?: readonly string[];
  /** Packages; `node:` stands for all modules of the runtime. */
  readonly packages: readonly string[];
  /** Its folders may not import each other, except those named here, which all of them may use. */
  readonly separate?: { readonly shared: readonly string[] };
  /** One of its folders, which does not import the others. */
  readonly base?: string;
}

export const RULES: Readonly<Record<string, Rule>> = {
  schema: { folders: [], packages: ["zod"] },
  pacing: { folders: [], packages: ["node:"] },
  threads: { folders: ["pacing"], packages: ["node:"] },
  media: { folders: [], packages: ["speex-resampler"] },
  plan: { folders: [], packages: [SCHEMA_PACKAGE] },
  call: { folders: [], typesOf: ["plan"], packages: [SCHEMA_PACKAGE] },
  ports: { folders: [], typesOf: ["media", "plan"], packages: [SCHEMA_PACKAGE] },
  net: { folders: ["pacing"], packages: ["undici", "ipaddr.js", "node:"] },
  providers: {
    folders: ["ports", "media", "net", "pacing", "threads"],
    packages: [
      SCHEMA_PACKAGE,
      "node:",
      "@ai-sdk/amazon-bedrock",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "@ai-sdk/groq",
      "@ai-sdk/mistral",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
      "@echogarden/espeak-ng-emscripten",
      "@grpc/grpc-js",
      "@grpc/proto-loader",
      "@modelcontextprotocol/sdk",
      "@mozilla/readability",
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
      "ai",
      "ajv",
      "aws4fetch",
      "cfb",
      "csv-parse",
      "fflate",
      "linkedom",
      "mammoth",
      "marked",
      "mustache",
      "onnxruntime-node",
      "soundswallower",
      "tinyld",
      "unpdf",
      "word-extractor",
      "ws",
      "yaml",
      "zod",
    ],
    // Websockets of vendors; the `ai` SDK; processes of models on this machine; objects in a bucket.
    separate: { shared: ["providers/sockets", "providers/llm-sdk", "providers/local-child", "providers/s3"] },
  },
  transports: {
    folders: ["ports", "media", "net", "pacing", "threads"],
    packages: [SCHEMA_PACKAGE, "node:", "@livekit/protocol", "libopus-wasm", "werift", "ws"],
    // Media threads, peers, codecs and RTP, under `webrtc`, `livekit` and `sip`.
    separate: { shared: ["transports/rtc"] },
  },
  store: {
    folders: ["pacing", "threads"],
    packages: [
      SCHEMA_PACKAGE,
      "node:",
      "kysely",
      "pg",
      "pg-protocol",
      "@electric-sql/pglite",
      "@electric-sql/pglite-pgvector",
    ],
    // Connections, tables, migrations and paging.
    base: "store/database",
  },
  config: {
    folders: ["net", "pacing"],
    typesOf: ["plan", "providers", "store"],
    packages: [SCHEMA_PACKAGE, "node:", "zod"],
  },
  // The models that can run on this machine: list, download, lock file.
  models: { folders: ["pacing"], typesOf: ["providers"], packages: ["node:"] },
  runner: {
    folders: ["call", "ports", "media", "pacing"],
    typesOf: ["plan"],
    packages: [SCHEMA_PACKAGE, "node:"],
  },
  lifecycle: {
    folders: ["call", "plan", "store", "jobs/definitions", "pacing"],
    typesOf: ["config", "jobs", "runner"],
    packages: [SCHEMA_PACKAGE, "node:", "pino"],
  },
  telephony: {
    folders: ["store", "pacing"],
    typesOf: ["lifecycle", "ports", "runner"],
    packages: [SCHEMA_PACKAGE, "node:", "pino"],
  },
  nodes: {
    folders: ["lifecycle", "store", "pacing"],
    typesOf: ["ports", "runner"],
    packages: ["node:", "pino"],
  },
  joins: {
    folders: ["config", "store", "transports"],
    typesOf: ["ports", "runner"],
    packages: [SCHEMA_PACKAGE, "node:", "pino", "ws"],
  },
  upkeep: {
    folders: ["store", "pacing"],
    typesOf: ["ports", "providers"],
    packages: ["node:", "pino"],
  },
  // Searches in the documents of corpora.
  corpora: {
    folders: ["store", "pacing"],
    typesOf: ["ports"],
    packages: [SCHEMA_PACKAGE],
  },
  voices: {
    folders: ["media", "pacing"],
    typesOf: ["ports", "providers", "store"],
    packages: [SCHEMA_PACKAGE, "node:", "pino"],
  },
  jobs: {
    // Of the ports, the failure of a document reader and its codes.
    folders: ["store", "net", "pacing", "ports/corpora"],
    typesOf: ["lifecycle", "ports"],
    packages: [SCHEMA_PACKAGE, "node:", "pg-boss", "pino", "robots-parser"],
  },
  http: {
    folders: ["store", "ports", "net", "pacing"],
    typesOf: ["corpora", "joins", "lifecycle", "plan", "telephony", "voices"],
    packages: [
      SCHEMA_PACKAGE,
      "node:",
      "fastify",
      "@fastify/multipart",
      "@fastify/proxy-addr",
      "ws",
      "pino",
      "prom-client",
      "yaml",
    ],
  },
  app: {
    folders: [
      "call",
      "config",
      "corpora",
      "http",
      "jobs",
      "joins",
      "lifecycle",
      "media",
      "models",
      "net",
      "nodes",
      "pacing",
      "plan",
      "ports",
      "providers",
      "runner",
      "store",
      "telephony",
      "threads",
      "transports",
      "upkeep",
      "voices",
    ],
    packages: [SCHEMA_PACKAGE, "node:", "pino", "prom-client"],
  },
  // The operator's command line: a second program beside the service.
  cli: { folders: ["app", "config", "models", "pacing", "store"], packages: [SCHEMA_PACKAGE, "node:"] },
  // The program itself: `main.ts`, the only file outside of a folder.
  main: { folders: ["app"], packages: ["node:"] },
};

/** What `app` may import from outside of the server. */
export const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  app: ["packages/server/package.json", "packages/console/build/stamp.ts", "packages/console/build/build.ts"],
};
