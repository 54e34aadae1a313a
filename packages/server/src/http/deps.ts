/** Everything the HTTP door is given by `main.ts`. It reads no setting and starts no engine by itself. */

import type {
  BaseToolDefinition,
  CallTemplate,
  FieldError,
  SendCallDataMessage,
  StartAgentCallRequest,
  StartCallRequest,
  ThrottleRule,
  ToolWrite,
  WebhookEvent,
} from "@parley/schema";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { WebSocket } from "ws";
import type { Recordings } from "../ports/recordings.ts";
import type { CallColumns } from "../store/call-rows.ts";
import type { Store } from "../store/db.ts";
import type { PublicVoice } from "../store/voice-list.ts";

export interface HttpDeps {
  readonly store: Pick<Store, "db" | "ping">;
  /** Address and port to listen on; port 0 takes a free one. */
  readonly host: string;
  readonly port: number;
  /** Of the service, as the description of the interface prints it. */
  readonly version: string;
  /** Base of join URLs and paging links, without a trailing slash. Null: made from the address listened on. */
  readonly publicUrl: string | null;
  /** 32 bytes from which the door derives its own signing keys (cursors); `SECRETS_KEY`. */
  readonly secretsKey: Uint8Array;
  readonly logger: Logger;
  /** `/metrics` prints it; the door adds its own request histogram to it. */
  readonly registry: Registry;
  readonly settings: HttpSettings;
  readonly recordings: Recordings;
  /** Removes the files of a deleted call that this node has, now or, when that fails, later. Never rejects. */
  readonly removeFiles: (callId: string) => Promise<void>;
  /** Lines of the event log of a call that is over, in pieces; null where none was kept. */
  readonly readEventLog: (accountId: string, callId: string) => Promise<AsyncIterable<string> | null>;
  /** Names that `model` may have, `default` first. */
  readonly modelNames: () => readonly string[];
  /** The voices of everybody: those of the deployment's engine. Their ids never change. */
  readonly publicVoices: () => readonly PublicVoice[];
  /** Has a voice of everybody say a short sentence. */
  readonly previewVoice: (voice: Pick<PublicVoice, "name">) => Promise<VoicePreview>;
  /** Why engines serve no call any more, a clause for each; empty while all do. */
  readonly lostEngines: () => readonly string[];
  /** What is wrong with the template strings and the context schema of an agent to be stored; paths are whole. */
  readonly checkTemplates: (template: CallTemplate) => readonly FieldError[];
  /** For contexts of calls of an agent with this template. */
  readonly contextChecker: (template: CallTemplate) => ContextChecker;
  /** How many calls the deployment lets every account create, as sliding windows. */
  readonly accountRates: readonly ThrottleRule[];
  /** Checks everything, writes the call, and throws ApiError with no record left behind. */
  readonly createCall: (input: CreateCallInput) => Promise<{ readonly callId: string }>;
  readonly findJoin: (input: FindJoinInput) => Promise<JoinLookup>;
  /**
   * Takes over an upgraded socket. The socket is paused until the outcome is known, so listeners may be attached at
   * any time before; on every outcome but `connected` the door closes it with the code of that outcome.
   */
  readonly connectCall: (input: ConnectCallInput) => ConnectOutcome | Promise<ConnectOutcome>;
  readonly webRtc: WebRtcDoor;
  /** `not_live`: over, or never of this process. */
  readonly sendToCall: (callId: string, message: SendCallDataMessage) => SendOutcome;
  readonly console: ConsoleSite;
  /** Runs an http tool once, outside of any call. The definition holds its secrets. */
  readonly testTool: TestTool;
  /** Why a URL with a written-out address may not be reached from here, or null. */
  readonly refusedTarget: (url: string, kind?: "http" | "websocket") => string | null;
  /** Webhooks may have something to be told, after it was written. */
  readonly deliver: () => void;
  /** Batches may have something to be done, after it was written. */
  readonly dispatchBatches: () => void;
  /** A call that does not exist, as it would be on record at the event. */
  readonly sampleCall: (accountId: string, event: WebhookEvent) => CallColumns;
  /** The tools that an OpenAPI document describes, or everything that keeps it from being one. */
  readonly toolsOfOpenApi: (bytes: Uint8Array) => OpenApiTools;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

/** The built console. */
export interface ConsoleSite {
  /** Waits for a build that is under way, but no longer than `waitMs`. */
  readonly state: (waitMs: number) => Promise<ConsoleState>;
}

export type ConsoleState =
  | {
      readonly kind: "ready";
      /** The page of every place in the console. */
      readonly html: string;
      /** By the name after `/assets/`; a name never stands for other content. */
      readonly assets: ReadonlyMap<string, ConsoleAsset>;
    }
  | { readonly kind: "building" }
  | { readonly kind: "off" }
  /** `reason` is one or more sentences for the operator. */
  | { readonly kind: "failed"; readonly reason: string };

export interface ConsoleAsset {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** The same, compressed; null where that makes it no smaller. */
  readonly br: Uint8Array | null;
  readonly gzip: Uint8Array | null;
}

/** Checks what fills the template strings of one agent. */
export interface ContextChecker {
  /** What is wrong with one; fields are dotted paths that begin with `templateContext`. */
  readonly problemsOf: (context: Readonly<Record<string, unknown>>) => readonly FieldError[];
  /** Whether nothing is wrong with any of many, far faster; false also where only looking at each can tell. */
  readonly allGood: (contexts: readonly Readonly<Record<string, unknown>>[]) => boolean;
}

export interface HttpSettings {
  /** Requests per second; 0 turns the limit off. */
  readonly rateLimitPerKey: number;
  readonly rateLimitPerAccount: number;
  readonly lenientFields: boolean;
  readonly apiNames: "neutral" | "vendor";
  /** Under which the accounts have their SIP domains, such as `sip.example`. */
  readonly sipHost: string;
  /** Origins that may send `X-API-Key` from a browser, such as `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Parses every answer by the response schema of its route; always on in tests. */
  readonly checkResponses: boolean;
}

export interface CreateCallInput {
  readonly accountId: string;
  /** Set for a call of an agent; `request` is then a StartAgentCallRequest. */
  readonly agentId: string | null;
  readonly request: StartCallRequest | StartAgentCallRequest;
  readonly query: {
    readonly enableGreetingPrompt?: boolean | undefined;
    readonly priorCallId?: string | undefined;
    readonly throttle?: string | undefined;
  };
}

export interface FindJoinInput {
  readonly callId: string;
  /** Neutral path spelling: web_rtc, server_web_socket, telephony1..telephony4. */
  readonly medium: string;
  readonly token: string;
}

/**
 * `ok`: waits for its join. `lost`: was connected and may come back within its grace, also while draining. `joined`:
 * connected now. `gone`: after the join timeout or the end. `not_found`: any part of the URL is wrong.
 */
export type JoinLookup = "ok" | "lost" | "joined" | "gone" | "not_found";

export interface ConnectCallInput {
  readonly callId: string;
  readonly socket: WebSocket;
  readonly query: JoinQuery;
  /** The call is one over WebRTC whose client asks for a websocket instead, and holds audio that it has not played. */
  readonly keepsAudio: boolean;
}

/** Joins by WebRTC (D117). Whether the call and its token are known is asked by `findJoin` before. */
export interface WebRtcDoor {
  /** Values of `Link` headers that name the servers by which clients find their way. */
  readonly iceServerLinks: readonly string[];
  readonly offer: (input: WebRtcOffer) => Promise<WebRtcAnswer>;
  /** `text` is a fragment (RFC 8840): candidates, or new credentials for a restart. */
  readonly patch: (connection: WebRtcConnection, text: string) => Promise<WebRtcPatched>;
  /** False: there is no such connection. */
  readonly hangUp: (connection: WebRtcConnection) => boolean;
}

export interface WebRtcOffer {
  readonly callId: string;
  readonly sdp: string;
  readonly query: JoinQuery;
}

export interface WebRtcConnection {
  readonly callId: string;
  readonly connectionId: string;
}

export type WebRtcAnswer =
  | { readonly kind: "answered"; readonly sdp: string; readonly connectionId: string }
  /** `reason` ends a sentence that begins with "The offer". */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "joined" | "gone" | "no_capacity" };

export type WebRtcPatched =
  /** Null: the candidates were taken. */
  | { readonly kind: "taken"; readonly fragment: string | null }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown" };

export interface JoinQuery {
  /** At most 120 characters; longer ones are cut. */
  readonly clientVersion: string | null;
  readonly apiVersion: string | null;
  /** The comma list of `experimentalMessages`, trimmed; empty when absent. */
  readonly experimentalMessages: readonly string[];
}

/** `joined` closes the socket with 4409, `gone` with 4410. */
export type ConnectOutcome = "connected" | "joined" | "gone";

export type SendOutcome = "accepted" | "not_joined" | "not_live";

export type ToolTestOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** As the tool's server says it, or null. */
      readonly contentType: string | null;
      readonly body: Uint8Array;
    }
  /** Nothing was reached, or nothing was asked. `reason` ends a sentence and holds no secret. */
  | { readonly kind: "failed"; readonly reason: string };

export type OpenApiTools =
  { readonly tools: readonly ToolWrite[] } | { readonly errors: readonly FieldError[] };

export type TestTool = (
  definition: BaseToolDefinition,
  values: Readonly<Record<string, unknown>>,
) => Promise<ToolTestOutcome>;

export type VoicePreview =
  /** A whole WAV file. */
  | { readonly kind: "heard"; readonly wav: Uint8Array }
  /** `reason` ends a sentence and holds no key. */
  | { readonly kind: "failed"; readonly reason: string }
  /** More previews wait for the engine than are taken. */
  | { readonly kind: "busy" };

export interface HttpServer {
  /** The base URL in use, also when it was made from the address. */
  readonly publicUrl: string;
  /** The port listened on. */
  readonly port: number;
  readonly listen: () => Promise<void>;
  /** Readiness turns 503 and new calls and joins are refused; what runs goes on. Idempotent. */
  readonly drain: () => void;
  /** Stops listening, closes sockets not yet connected to a call with 1012, waits for requests under way. */
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
