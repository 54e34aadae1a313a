/**
 * Connections to Google for streaming synthesis: gRPC over HTTP/2. One connection serves the sentences of all accounts,
 * because every call has its own token; more are opened only where one has too many calls.
 */

import { fileURLToPath } from "node:url";
import type * as Grpc from "@grpc/grpc-js";
import type { Client } from "@grpc/grpc-js";
import type { MessageTypeDefinition, PackageDefinition } from "@grpc/proto-loader";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { SentenceRequest } from "./speech-request.ts";

export interface SpeechCall {
  /** The answers. */
  readonly stream: AsyncIterable<unknown>;
  /** Ends it, whatever state it is in. Idempotent. */
  end(): void;
}

export interface SpeechChannel {
  /**
   * Sends all messages of the sentence, and ends the input.
   * @throws EngineFailure where too many calls are open, or the channel is closed.
   */
  open(sentence: SentenceRequest, token: string, deadlineMs: number): Promise<SpeechCall>;
  /** Opens a connection if there is none. */
  connect(): Promise<void>;
  close(): void;
}

const DEFAULT_TARGET = "texttospeech.googleapis.com:443";
const PACKAGE = "google.cloud.texttospeech.v1";
const CALLS_PATH = `/${PACKAGE}.TextToSpeech/`;
const PROTO_FILE = fileURLToPath(new URL("google-tts.proto", import.meta.url));

/** Google allows 100 concurrent streams on a connection. */
const MAX_CALLS_PER_CONNECTION = 90;
/** With the limit above 720 sentences at a time, more than one node synthesizes. */
const MAX_CONNECTIONS = 8;
/** A connection without calls for so long is closed; opening one takes about 100 ms. */
const IDLE_CLOSE_MS = 300_000;
/** A piece of a stream has 5 to 50 KB. A whole answer has at most the six minutes of the longest text, 17 MB. */
const MAX_MESSAGE_BYTES = 32 * 1_024 * 1_024;
const MAX_RECONNECT_BACKOFF_MS = 5_000;

const OPTIONS = {
  "grpc.client_idle_timeout_ms": IDLE_CLOSE_MS,
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_BACKOFF_MS,
  "grpc.primary_user_agent": "parley",
  // A connection of its own for each client; no settings from DNS.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.service_config_disable_resolution": 1,
  // Statistics for a debugger, which would be kept for each call.
  "grpc.enable_channelz": 0,
};

interface Messages {
  readonly request: MessageTypeDefinition<object, object>;
  readonly answer: MessageTypeDefinition<object, object>;
}

interface Protocol extends Readonly<Record<SentenceRequest["method"], Messages>> {
  readonly grpc: typeof Grpc;
}

/** Loaded at the first use: deployments without voices of Google do not need it, and it takes about 100 ms. */
async function loadProtocol(): Promise<Protocol> {
  const [grpc, loader] = await Promise.all([import("@grpc/grpc-js"), import("@grpc/proto-loader")]);
  const loaded = await loader.load(PROTO_FILE, { keepCase: true, enums: String });
  return {
    grpc,
    StreamingSynthesize: messagesOf(loaded, "StreamingSynthesize"),
    SynthesizeSpeech: messagesOf(loaded, "SynthesizeSpeech"),
  };
}

function messagesOf(loaded: PackageDefinition, method: SentenceRequest["method"]): Messages {
  return {
    request: messageType(loaded, `${method}Request`),
    answer: messageType(loaded, `${method}Response`),
  };
}

function messageType(loaded: PackageDefinition, name: string): MessageTypeDefinition<object, object> {
  const found = loaded[`${PACKAGE}.${name}`];
  if (found?.["format"] !== "Protocol Buffer 3 DescriptorProto")
    throw new Error(`${PROTO_FILE} has no message ${name}`);
  return found;
}

interface Connection {
  readonly client: Client;
  calls: number;
}

export function openSpeechChannel(baseUrl: string | null): SpeechChannel {
  const { target, isPlaintext } = targetOf(baseUrl);
  const connections: Connection[] = [];
  let protocol: Promise<Protocol> | null = null;
  let isClosed = false;

  const load = async (): Promise<Protocol> => {
    if (protocol === null) {
      const loading = loadProtocol();
      protocol = loading;
      // A failure is not kept: the next sentence tries again.
      loading.catch(() => {
        if (protocol === loading) protocol = null;
      });
    }
    const loaded = await protocol;
    if (isClosed) throw closed();
    return loaded;
  };

  const free = ({ grpc }: Protocol): Connection => {
    const found = connections.find(({ calls }) => calls < MAX_CALLS_PER_CONNECTION);
    if (found !== undefined) return found;
    if (connections.length >= MAX_CONNECTIONS)
      throw new EngineFailure("too many sentences wait for Google", { type: "busy" });
    const credentials = isPlaintext ? grpc.credentials.createInsecure() : grpc.credentials.createSsl();
    const opened = { client: new grpc.Client(target, credentials, OPTIONS), calls: 0 };
    connections.push(opened);
    return opened;
  };

  return {
    async open({ method, messages }, token, deadlineMs) {
      const loaded = await load();
      const { request, answer } = loaded[method];
      const connection = free(loaded);
      const metadata = new loaded.grpc.Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      // On the wire a call with one request and one answer is a stream of one each.
      const stream = connection.client.makeBidiStreamRequest<object, object>(
        `${CALLS_PATH}${method}`,
        (message) => request.serialize(message),
        (bytes) => answer.deserialize(bytes),
        metadata,
        { deadline: deadlineMs },
      );
      connection.calls += 1;
      // Its reader gets the error; without a listener one that comes after the reader left would end the process.
      stream.on("error", () => undefined);
      for (const message of messages) stream.write(message);
      stream.end();
      let isEnded = false;
      return {
        stream,
        end() {
          if (isEnded) return;
          isEnded = true;
          connection.calls -= 1;
          stream.cancel();
        },
      };
    },
    async connect() {
      free(await load())
        .client.getChannel()
        .getConnectivityState(true);
    },
    close() {
      isClosed = true;
      for (const { client } of connections.splice(0)) client.close();
    },
  };
}

function closed(): EngineFailure {
  return new EngineFailure("the voices of Google are closed", { type: "closed" });
}

/** `http://` means without encryption, for a proxy on this machine and for tests. */
function targetOf(baseUrl: string | null): { target: string; isPlaintext: boolean } {
  if (baseUrl === null) return { target: DEFAULT_TARGET, isPlaintext: false };
  const { hostname, port, protocol } = new URL(baseUrl);
  const isPlaintext = protocol === "http:";
  return { target: `${hostname}:${port === "" ? (isPlaintext ? "80" : "443") : port}`, isPlaintext };
}
