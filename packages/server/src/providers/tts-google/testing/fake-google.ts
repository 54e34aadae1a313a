/**
 * Google on 127.0.0.1: the token server over HTTP and the two calls for speech over gRPC without encryption. It refuses what
 * Google refuses: tokens it did not give, fields it does not know, settings in a later message, wrong encodings, rates
 * and voices, too much text, and input that does not end.
 */

import { createPublicKey, generateKeyPairSync, randomUUID, verify } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  Server,
  ServerCredentials,
  status,
  type MethodDefinition,
  type ServerDuplexStream,
} from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import { openLocalServer, type LocalHandler } from "../../../ports/testing/local-server.ts";
import type { FakePace } from "../../sockets/testing/fake-voice.ts";
import {
  GRANT_TYPE,
  JwtClaims,
  JwtHeader,
  TOKEN_URI,
  type StreamingConfig,
  type WholeRequest,
} from "../contract.ts";
import { checkedConfig, checkedInput, checkedWhole, Refusal } from "./rules.ts";
import { audioPieces, type HeardCall } from "./spoken-audio.ts";

/** What one call meets instead of its audio. */
export interface Fault {
  /** Refused before any audio, or after the first piece. */
  readonly status?: number;
  readonly details?: string;
  readonly when?: "first" | "middle";
  readonly kind?: "hang" | "garbage" | "silent" | "header" | "slow";
}

export interface FakeGoogleOptions extends FakePace {
  /** For each call, counted from 0. */
  readonly fault?: (call: number) => Fault | null;
  readonly tokenFault?: LocalHandler;
  readonly tokenLifeS?: number;
  /** Default: an odd number, so that samples are cut. */
  readonly pieceBytes?: number;
}

export interface FakeGoogle {
  /** What Google would refuse of an adapter. */
  readonly problems: readonly string[];
  readonly baseUrl: string;
  readonly tokenUrl: string;
  /** The document of its service account. */
  readonly key: string;
  /** Calls whose input was whole and right. */
  readonly heard: readonly HeardCall[];
  /** All calls. */
  readonly calls: number;
  readonly tokenRequests: number;
  readonly peers: ReadonlySet<string>;
  /** Resolves when a call has its input and nothing more is sent. */
  readonly hanging: Promise<void>;
  /** Resolves when a caller cancels a call. */
  readonly cancelled: Promise<void>;
  /** Ends all connections, and takes no more. */
  drop(): void;
  /** From now on the tokens that it gave are refused. */
  revoke(): void;
  close(): Promise<void>;
}

/** Google ends a call whose input does not come for about this long. */
const IDLE_MS = 5_000;
const PIECE_BYTES = 1_999;

const keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
export const PRIVATE_KEY = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export function serviceAccount(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "parley-test",
    private_key_id: "0123456789abcdef",
    private_key: PRIVATE_KEY,
    client_email: "voice@parley-test.iam.gserviceaccount.com",
    token_uri: TOKEN_URI,
    ...fields,
  });
}

const PACKAGE = "google.cloud.texttospeech.v1";
const definition = loadSync(fileURLToPath(new URL("../google-tts.proto", import.meta.url)), {
  keepCase: true,
  enums: String,
});
type Method = "StreamingSynthesize" | "SynthesizeSpeech";

/** A call with one request and one answer is a stream of one each. */
function methodOf(name: Method): MethodDefinition<object, object> {
  const type = (suffix: string) =>
    definition[`${PACKAGE}.${name}${suffix}`] as MessageTypeDefinition<object, object>;
  const [requestType, answerType] = [type("Request"), type("Response")];
  return {
    path: `/${PACKAGE}.TextToSpeech/${name}`,
    requestStream: true,
    responseStream: true,
    requestSerialize: (message) => requestType.serialize(message),
    // A field that the definition lacks is lost on the way back.
    requestDeserialize(bytes) {
      const message = requestType.deserialize(bytes);
      if (!requestType.serialize(message).equals(bytes)) throw new Error("unknown field");
      return message;
    },
    responseSerialize: (message) => (Buffer.isBuffer(message) ? message : answerType.serialize(message)),
    responseDeserialize: (bytes) => answerType.deserialize(bytes),
  };
}

type Stream = ServerDuplexStream<object, object>;

function refuse(stream: Stream, error: unknown): void {
  const code = error instanceof Refusal ? error.code : status.INTERNAL;
  stream.emit("error", { code, details: error instanceof Error ? error.message : "" });
}

function bind(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
}

export async function openFakeGoogle(options: FakeGoogleOptions = {}): Promise<FakeGoogle> {
  const { fault = () => null } = options;
  const tokens = new Set<string>();
  const heard: HeardCall[] = [];
  const problems: string[] = [];
  const peers = new Set<string>();
  const hanging = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  let calls = 0;
  const server = new Server();

  const serve = async (stream: Stream, method: Method, met: Fault | null): Promise<void> => {
    const given = String(stream.metadata.get("authorization")[0] ?? "");
    if (!given.startsWith("Bearer ") || !tokens.has(given.slice("Bearer ".length)))
      throw new Refusal(status.UNAUTHENTICATED, "Request had invalid authentication credentials.");
    const call = await readInput(stream, method);
    heard.push(call);
    options.observe?.("text", call.text);
    if (met?.status !== undefined && met.when !== "middle") throw new Refusal(met.status, met.details ?? "");
    if (met?.kind === "hang" && met.when !== "middle") return hanging.resolve();
    if (!(await sendAudio(stream, call, met, options))) return hanging.resolve();
    if (!stream.cancelled) stream.end();
  };

  const take = (method: Method) => (stream: Stream) => {
    const met = fault(calls);
    calls += 1;
    peers.add(stream.getPeer());
    stream.on("cancelled", () => cancelled.resolve());
    serve(stream, method, met).catch((error: unknown) => {
      if (met === null && error instanceof Refusal) problems.push(error.message);
      refuse(stream, error);
    });
  };
  const methods = ["StreamingSynthesize", "SynthesizeSpeech"] as const;
  server.addService(
    Object.fromEntries(methods.map((name) => [name, methodOf(name)])),
    Object.fromEntries(methods.map((name) => [name, take(name)])),
  );
  const port = await bind(server);
  const tokenServer = await openLocalServer(options.tokenFault ?? tokenHandler(tokens, options.tokenLifeS));
  return {
    baseUrl: `http://127.0.0.1:${String(port)}`,
    tokenUrl: tokenServer.baseUrl,
    key: serviceAccount(),
    heard,
    problems,
    get calls() {
      return calls;
    },
    get tokenRequests() {
      return tokenServer.requests.length;
    },
    peers,
    hanging: hanging.promise,
    cancelled: cancelled.promise,
    drop() {
      server.forceShutdown();
    },
    revoke() {
      tokens.clear();
    },
    async close() {
      server.forceShutdown();
      await tokenServer.close();
    },
  };
}

/** False: it stops in the middle, and nothing more is sent. */
async function sendAudio(
  stream: Stream,
  call: HeardCall,
  met: Fault | null,
  options: FakeGoogleOptions,
): Promise<boolean> {
  const { msPerChar, pieceBytes = PIECE_BYTES } = options;
  const pieces =
    met?.kind === "silent" ? [] : audioPieces(call, { msPerChar, pieceBytes }, met?.kind === "header");
  for (const [index, piece] of pieces.entries()) {
    if (index === 0) options.observe?.("audio", call.text);
    if (stream.cancelled) return true;
    if (index === 1 && met?.when === "middle") {
      if (met.status !== undefined) throw new Refusal(met.status, met.details ?? "");
      if (met.kind === "hang") return false;
      // Bytes of a field that is longer than the message.
      if (met.kind === "garbage") stream.write(Buffer.from([0x0a, 0x64, 0x01]));
    }
    if (!stream.write({ audio_content: piece })) await drained(stream);
    if (met?.kind === "slow") for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  }
  return true;
}

/** Checks what Google checks of an assertion. */
function tokenHandler(tokens: Set<string>, lifeS = 3_599): LocalHandler {
  return ({ method, headers, body }, response) => {
    const refuse = (description: string): void => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "invalid_grant", error_description: description }));
    };
    const form = new URLSearchParams(body);
    if (method !== "POST" || headers["content-type"] !== "application/x-www-form-urlencoded")
      return refuse("not a form");
    if (form.get("grant_type") !== GRANT_TYPE) return refuse("wrong grant type");
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const publicKey = createPublicKey(keys.publicKey.export({ type: "spki", format: "pem" }));
    const signed = Buffer.from(`${header}.${claims}`);
    if (!verify("RSA-SHA256", signed, publicKey, Buffer.from(signature, "base64url")))
      return refuse("Invalid JWT Signature.");
    JwtHeader.parse(jsonOf(header));
    const { iss, iat, exp } = JwtClaims.parse(jsonOf(claims));
    if (iss !== "voice@parley-test.iam.gserviceaccount.com")
      return refuse("Invalid issuer: account not found");
    if (exp - iat > 3_600 || Math.abs(iat - Date.now() / 1_000) > 300)
      return refuse("Token must be short-lived");
    const token = `ya29.${randomUUID()}`;
    tokens.add(token);
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify({ access_token: token, expires_in: lifeS, token_type: "Bearer" }));
  };
}

function jsonOf(part: string): unknown {
  return JSON.parse(Buffer.from(part, "base64url").toString());
}

async function readInput(stream: Stream, method: Method): Promise<HeardCall> {
  let config: StreamingConfig | null = null;
  let whole: WholeRequest | null = null;
  let text = "";
  let idle: NodeJS.Timeout | undefined;
  const wait = (): void => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      stream.emit("error", {
        code: status.ABORTED,
        details: "Stream aborted due to long duration of inactivity",
      });
    }, IDLE_MS);
  };
  wait();
  try {
    // Not destroyed where a message is wrong: the status must still be sent.
    for await (const message of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<unknown>) {
      wait();
      if (method === "SynthesizeSpeech") whole = checkedWhole(message);
      else if (config === null) config = checkedConfig(message);
      else text += checkedInput(message);
    }
  } finally {
    clearTimeout(idle);
  }
  if (whole !== null) return { whole, text: whole.input.text };
  if (config === null) throw new Refusal(status.INVALID_ARGUMENT, "No streaming_config was sent.");
  if (text === "") throw new Refusal(status.INVALID_ARGUMENT, "No input was sent.");
  return { config, text };
}

/** Also where the caller is gone. */
async function drained(stream: Stream): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.once("drain", resolve);
    stream.once("cancelled", resolve);
    stream.once("close", resolve);
  });
}
