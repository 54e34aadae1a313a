/** The dependencies and settings that `app` gives the HTTP server. It reads no environment and starts no engine. */

import type {
  CallTemplate,
  ExternalVoice,
  FieldError,
  SendCallDataMessage,
  ThrottleRule,
  VoiceProvider,
  WebhookEvent,
} from "@parley/schema";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type {
  ConnectCallInput,
  ConnectOutcome,
  FindJoinInput,
  JoinLookup,
  Rooms,
  WebRtcSignalling,
} from "../joins/api.ts";
import type { SearchCorpus } from "../corpora/search-types.ts";
import type { CreateCall, SendOutcome } from "../lifecycle/api.ts";
import type { CarrierRequests } from "../telephony/api.ts";
import type { SipChecks } from "../telephony/sip/checks/check-trunk.ts";
import type { Resource, SpellMedium } from "../lifecycle/resource.ts";
import type { ContextChecker } from "../lifecycle/create/schema-checks.ts";
import type { Aliases } from "../plan/name-aliases.ts";
import type { OpenApiTools } from "../ports/openapi-tools.ts";
import type { CloneRequest } from "../ports/voice-cloning.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { TestTool } from "../lifecycle/tool-test.ts";
import type { ToolTestOutcome } from "../ports/tool-test.ts";
import type { CorpusFiles } from "../ports/corpora/corpus-files.ts";
import type { CorpusLimits } from "../store/corpora/account-limits.ts";
import type { LoadIds } from "../store/corpora/loads.ts";
import type { FilePlace } from "../store/corpora/uploads.ts";
import type { Db } from "../store/database/db.ts";
import type { CallColumns } from "../store/database/tables/calls.ts";
import type { CallRow } from "../store/calls/calls.ts";
import type { Store } from "../store/opening/open-store.ts";
import type { PublicVoice } from "../store/agents/voice-list.ts";
import type { EngineAdministration } from "./engine-administration.ts";
import type { VoicePreview } from "../voices/voice-previews.ts";

/** `no_key`: the provider needs one, and there is none. `not_spoken`: this version has no adapter for it. */
export type DefinitionPreview = VoicePreview | { readonly kind: "no_key" } | { readonly kind: "not_spoken" };

export interface HttpDeps {
  readonly store: Pick<Store, "db" | "ping">;
  /** Address and port to listen on; port 0 takes a free one. */
  readonly host: string;
  readonly port: number;
  /** Other processes of this service listen at the same port. */
  readonly sharesPort?: boolean;
  /** Version of the service, as the description of the interface prints it. */
  readonly version: string;
  /** Base of join URLs and paging links, without a trailing slash. Null: made from the listen address. */
  readonly publicUrl: string | null;
  /** 32 bytes from which the server derives its own signing keys (cursors); `SECRETS_KEY`. */
  readonly secretsKey: Uint8Array;
  readonly logger: Logger;
  /** The server adds its own request histogram to it. */
  readonly registry: Registry;
  /** What `/metrics` prints: the registry, with those of the other processes of this service. Null: not now. */
  readonly readMetrics: () => Promise<string | null>;
  readonly settings: HttpSettings;
  readonly recordings: Recordings;
  /** Removes this node's files of a deleted call, now or, when that fails, later. Never rejects. */
  readonly removeFiles: (callId: string) => Promise<void>;
  /** Lines of the event log of an ended call, in pieces; null where none was stored. */
  readonly readEventLog: (accountId: string, callId: string) => Promise<AsyncIterable<string> | null>;
  /** Names that `model` may have, `default` first. */
  readonly modelNames: () => readonly string[];
  /** Further names that voices and models may have. */
  readonly nameAliases: () => Aliases;
  /** Phrases that calls understand, where an engine understands only certain ones; null: all speech. */
  readonly examplePhrases: () => readonly string[] | null;
  /** Public voices: those of the deployment's engine. Their ids never change. */
  readonly publicVoices: () => readonly PublicVoice[];
  /** Speaks a short sentence with a public voice. */
  readonly previewVoice: (voice: Pick<PublicVoice, "name">) => Promise<VoicePreview>;
  /** The same with a voice of a provider, in the language or, for null, in English. */
  readonly previewDefinition: (
    accountId: string,
    definition: ExternalVoice,
    primaryLanguage: string | null,
  ) => Promise<DefinitionPreview>;
  /** Who makes voices from recordings for an account. */
  readonly clonerFor: ClonerFor;
  /** Providers of voices for which the deployment has a key of its own. */
  readonly deploymentVoiceKinds: ReadonlySet<VoiceProvider>;
  /** Why engines cannot serve calls now, a clause for each; empty while all can. */
  readonly lostEngines: () => readonly string[];
  /** Why parts that calls can do without do not work now, a clause for each; empty while all work. */
  readonly degradedParts: () => readonly string[];
  /** Problems of the template strings and the context schema of an agent to be stored; paths are whole. */
  readonly checkTemplates: (accountId: string, template: CallTemplate) => Promise<readonly FieldError[]>;
  /** Problems of contexts of calls of an agent with this template. */
  readonly contextChecker: (accountId: string, template: CallTemplate) => Promise<ContextChecker>;
  /** How many calls each account may create, as sliding windows. */
  readonly accountRates: readonly ThrottleRule[];
  /** This node's share of the request rates of `settings`, from 0 to 1. */
  readonly rateShare: () => number;
  /** Checks everything, stores the call and starts it. */
  readonly createCall: CreateCall;
  /** Answers the webhooks of carriers, and checks their configurations. */
  readonly carriers: CarrierRequests;
  /** Checks SIP trunks, registrations and the configuration of accounts. */
  readonly sipChecks: SipChecks;
  readonly findJoin: (input: FindJoinInput) => Promise<JoinLookup>;
  /**
   * Takes over an upgraded socket. The socket is paused until the outcome is known, so listeners may be attached at
   * any time before; on every outcome but `connected` the server closes it with the code of that outcome.
   */
  readonly connectCall: (input: ConnectCallInput) => ConnectOutcome | Promise<ConnectOutcome>;
  readonly webRtc: WebRtcSignalling;
  readonly rooms: Rooms;
  /** Wherever the call runs. `not_live`: it has ended. `elsewhere`: its node cannot be reached. */
  readonly sendToCall: (callId: string, message: SendCallDataMessage) => Promise<SendOutcome | "elsewhere">;
  /** Ends a call that nobody has joined, wherever it waits. `not_waiting`: it was joined, or has ended. */
  readonly endUnjoined: (callId: string) => Promise<"ended" | "not_waiting" | "elsewhere">;
  readonly console: ConsoleSite;
  /** The engines that new calls use, and how they are changed. */
  readonly engines: EngineAdministration;
  /** Finds passages in the documents of a corpus. */
  readonly searchCorpus: SearchCorpus;
  /** Runs an http tool once, outside of any call. The definition holds its secrets. */
  readonly testTool: TestTool<ToolTestOutcome>;
  /** Why a URL with a literal address may not be reached from here, or null. */
  readonly refusedTarget: (url: string, kind?: "http" | "websocket") => string | null;
  readonly corpora: CorpusActions;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
  /** Call it after a transaction that may have written work for batches. */
  readonly dispatchBatches: () => void;
  /** The Call resource of a stored call. */
  readonly callResource: (row: CallRow, publicUrl: string, spell: SpellMedium) => Resource;
  /** A call that does not exist, as it would be stored at the event. */
  readonly sampleCall: (accountId: string, event: WebhookEvent) => CallColumns;
  /** The tools that an OpenAPI document describes, or every problem that prevents it from being one. */
  readonly toolsOfOpenApi: (accountId: string, bytes: Uint8Array) => Promise<OpenApiTools>;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

/** What requests for corpora start. */
export interface CorpusActions {
  readonly limits: CorpusLimits;
  /** Where `files` writes; null: in the bucket. */
  readonly filePlace: FilePlace;
  readonly files: Pick<CorpusFiles, "write" | "remove">;
  /** Queues the load of a source in the transaction that makes it necessary. Call `wakeLoads` after it. */
  readonly queueLoad: (tx: Db, source: LoadIds) => Promise<void>;
  readonly wakeLoads: () => void;
}

/** Null: neither the account nor the deployment has a key of a provider that makes voices from recordings. */
export type ClonerFor = (accountId: string) => Promise<AccountCloner | null>;

export interface AccountCloner {
  /** The provider, for people. */
  readonly vendor: string;
  /** Never rejects. */
  readonly clone: (request: CloneRequest) => Promise<CloneOutcome>;
}

export type CloneOutcome =
  | {
      readonly kind: "cloned";
      readonly definition: ExternalVoice;
      /** Removes the voice at the provider, for where it could not be stored. Never rejects. */
      readonly undo: () => Promise<void>;
    }
  /** `reason` ends a sentence and contains no key. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Too many recordings are under way. */
  | { readonly kind: "busy" };

/** The built console. */
export interface ConsoleSite {
  /** Waits for a running build, but no longer than `waitMs`. */
  readonly state: (waitMs: number) => Promise<ConsoleState>;
}

export type ConsoleState =
  | {
      readonly kind: "ready";
      /** The page for every console path. */
      readonly html: string;
      /** A file by the name after `/assets/`; a name always has the same content. */
      readonly assets: ReadonlyMap<string, ConsoleAsset>;
    }
  | { readonly kind: "building" }
  | { readonly kind: "off" }
  /** `reason` is one or more sentences for the operator. */
  | { readonly kind: "failed"; readonly reason: string };

export interface ConsoleAsset {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** The same, compressed; null where compression makes it no smaller. */
  readonly br: Uint8Array | null;
  readonly gzip: Uint8Array | null;
}

export interface HttpSettings {
  /** Requests per second; 0 turns the limit off. */
  readonly rateLimitPerKey: number;
  readonly rateLimitPerAccount: number;
  readonly ignoreUnknownFields: boolean;
  readonly apiNames: "neutral" | "vendor";
  /** The parent of the accounts' SIP domains, such as `sip.example`. */
  readonly sipHost: string;
  /** Calls over SIP are switched on. */
  readonly servesSip: boolean;
  /** Origins that may send `X-API-Key` from a browser, such as `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Open connections of an address that is neither a trusted proxy nor loopback, calls excluded; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** Parses every answer by the response schema of its route; always on in tests. */
  readonly checkResponses: boolean;
}

export interface HttpServer {
  /** The base URL in use, also when it was made from the address. */
  readonly publicUrl: string;
  /** The port listened on. */
  readonly port: number;
  readonly listen: () => Promise<void>;
  /** Readiness turns 503, and new calls and joins are refused; running calls continue. Idempotent. */
  readonly drain: () => void;
  /** Stops listening, closes sockets not yet connected to a call with 1012, waits for running requests. */
  readonly close: () => Promise<void>;
  /** Answers a request without a socket, for tests. */
  readonly inject: (request: InjectRequest) => Promise<InjectResponse>;
}

export interface InjectRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Address of the client; 127.0.0.1 when unset. */
  readonly remoteAddress?: string;
}

export interface InjectResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: string;
  readonly rawBody: Buffer;
}
