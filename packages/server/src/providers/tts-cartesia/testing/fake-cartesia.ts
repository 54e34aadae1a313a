/**
 * A fake Cartesia on 127.0.0.1, as strict as the vendor's documentation: it refuses unknown fields, wrong rates, a
 * context id that was used before, controls that the model or the version does not have, a missing key, and more
 * contexts at a time than the plan has.
 */

import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { cutInTwo, type FakeWord, fakeWords, type Fault, turns } from "../../sockets/testing/fake-speech.ts";
import type { FakePace } from "../../sockets/testing/fake-voice.ts";
import {
  openSocketServer,
  sendInPieces,
  type ServerConnection,
  type SocketServer,
  type UpgradeAnswer,
} from "../../sockets/testing/socket-server.ts";
import {
  CancelRequest,
  type Chunk,
  type Done,
  type ErrorEvent,
  GenerationRequest,
  type Timestamps,
  VERSIONS,
} from "../contract.ts";

export const KEY = "sk_car_secret-key-1";

export interface FakeCartesiaOptions extends FakePace {
  /** Called for each generation; null: all is well. */
  readonly fault?: (contextId: string) => Fault | null;
  readonly upgrade?: (request: IncomingMessage) => UpgradeAnswer | null;
  /** Voices that exist. Default: all. */
  readonly voices?: readonly string[];
  /** Contexts at a time of the plan. Default 100. */
  readonly concurrency?: number;
  /** Each message in small pieces. */
  readonly splits?: boolean;
  /** When the times of words come. Default `before` their audio. */
  readonly times?: "before" | "after" | "none";
  /** Turns of the event loop between two messages. Default 1. */
  readonly slowness?: number;
}

export interface FakeCartesia extends SocketServer {
  /** What the adapter did that the vendor does not allow. */
  readonly violations: readonly string[];
  readonly generations: readonly GenerationRequest[];
  readonly cancelled: readonly string[];
  readonly liveContexts: number;
  /** Resolves when a request has reached a fault. */
  readonly reached: Promise<void>;
  /** What the vendor does with sockets that were idle for too long. */
  expireIdle(): void;
}

type Event = Chunk | Timestamps | Done | ErrorEvent;

interface Shared {
  readonly options: FakeCartesiaOptions;
  readonly violations: string[];
  readonly generations: GenerationRequest[];
  readonly cancelled: string[];
  /** All ids so far, and those that are under way. */
  readonly used: Set<string>;
  readonly live: Set<string>;
  readonly reached: () => void;
}

export async function openFakeCartesia(options: FakeCartesiaOptions = {}): Promise<FakeCartesia> {
  const reached = Promise.withResolvers<void>();
  const shared: Shared = {
    options,
    violations: [],
    generations: [],
    cancelled: [],
    used: new Set(),
    live: new Set(),
    reached: reached.resolve,
  };
  const server = await openSocketServer({
    upgrade: (request) => options.upgrade?.(request) ?? checkUpgrade(request, shared.violations),
    connected: (connection) => {
      connection.socket.on("message", (data: Buffer, isBinary) => {
        read(connection, shared, isBinary ? null : (JSON.parse(data.toString("utf8")) as unknown));
      });
    },
  });
  return {
    ...server,
    get openCount() {
      return server.openCount;
    },
    violations: shared.violations,
    generations: shared.generations,
    cancelled: shared.cancelled,
    reached: reached.promise,
    get liveContexts() {
      return shared.live.size;
    },
    expireIdle: () => {
      for (const { socket } of server.connections) socket.close(1_000, "connection idle timeout");
    },
  };
}

function checkUpgrade(request: IncomingMessage, violations: string[]): UpgradeAnswer {
  const url = new URL(request.url ?? "", "http://fake");
  // Older versions answer plain text.
  if (request.headers["x-api-key"] !== KEY)
    return { status: 401, body: `Unauthorized: Invalid API key ${String(request.headers["x-api-key"])}` };
  const version = request.headers["cartesia-version"];
  if (url.pathname !== "/tts/websocket" || url.search !== "")
    return { status: 404, body: "404 page not found" };
  if (Object.values(VERSIONS).some((known) => known === version)) return "accept";
  violations.push(`version ${String(version)}`);
  return { status: 400, body: "Bad Request: Cartesia-Version" };
}

function read(connection: ServerConnection, shared: Shared, json: unknown): void {
  const { options, violations, used, live, generations, cancelled } = shared;
  const cancel = CancelRequest.safeParse(json);
  if (cancel.success) {
    const { context_id: contextId } = cancel.data;
    if (!live.delete(contextId)) {
      violations.push(`cancelled ${contextId}, which is not under way`);
      return;
    }
    cancelled.push(contextId);
    return;
  }
  const parsed = GenerationRequest.safeParse(json);
  const problem = parsed.success ? problemOf(connection, parsed.data, used) : z.prettifyError(parsed.error);
  const contextId = parsed.success ? parsed.data.context_id : undefined;
  if (!parsed.success || problem !== null) {
    violations.push(problem ?? "no request");
    send(connection, options, errorEvent(400, "invalid_request", problem ?? "no request", contextId));
    return;
  }
  const request = parsed.data;
  if (options.voices !== undefined && !options.voices.includes(request.voice.id)) {
    send(connection, options, errorEvent(404, "voice_not_found", "Voice not found", contextId));
    return;
  }
  if (live.size >= (options.concurrency ?? 100)) {
    const message = "You have exceeded your plan's concurrency limit.";
    send(connection, options, errorEvent(429, "concurrency_limited", message, contextId));
    return;
  }
  used.add(request.context_id);
  live.add(request.context_id);
  generations.push(request);
  void speak(connection, shared, request);
}

/** What the schema of a message alone does not say. */
function problemOf(
  { request: upgrade }: ServerConnection,
  request: GenerationRequest,
  used: ReadonlySet<string>,
): string | null {
  const isLegacy = upgrade.headers["cartesia-version"] === VERSIONS.legacy;
  const isOldModel = !/^sonic-(?:3|latest)/.test(request.model_id);
  const controls = request.voice.__experimental_controls;
  if (used.has(request.context_id)) return "a context that has expired";
  if (controls !== undefined && !(isLegacy && isOldModel)) return "__experimental_controls";
  if (request.generation_config !== undefined && (isLegacy || isOldModel)) return "generation_config";
  if (request.transcript.trim() === "") return "an empty transcript";
  if (request.continue !== false) return "a context that is not ended";
  return null;
}

function errorEvent(
  status: number,
  code: string | null,
  message: string,
  contextId: string | undefined,
): ErrorEvent {
  return {
    type: "error",
    done: true,
    status_code: status,
    error_code: code,
    title: "Refused",
    message,
    request_id: "550e8400-e29b-41d4-a716-446655440000",
    ...(contextId === undefined ? {} : { context_id: contextId }),
  };
}

async function speak(
  connection: ServerConnection,
  shared: Shared,
  request: GenerationRequest,
): Promise<void> {
  const { options, live, reached } = shared;
  const { slowness = 1, times = "before", msPerChar } = options;
  const contextId = request.context_id;
  const fault = options.fault?.(contextId) ?? null;
  const { encoding, sample_rate: sampleRateHz } = request.output_format;
  options.observe?.("text", request.transcript);
  const words = fakeWords(request.transcript, {
    encoding: encoding === "pcm_mulaw" ? "mulaw" : "pcm",
    sampleRateHz,
    ...(msPerChar === undefined ? {} : { msPerChar }),
  });
  await turns(slowness);
  if (fault !== null && fail(fault, connection, shared, contextId)) {
    reached();
    return;
  }
  for (const [index, word] of (fault === "no audio" ? [] : words).entries()) {
    await turns(slowness);
    // A chunk or two of a cancelled context may still come.
    const isCancelled = !live.has(contextId);
    if (times === "before" && index % 2 === 0)
      send(connection, options, timesOf(contextId, words.slice(index, index + 2)));
    const [head, tail] = cutInTwo(word.bytes);
    if (index === 0) options.observe?.("audio", request.transcript);
    send(connection, options, chunk(contextId, head));
    if (fault === "hang in the middle") {
      reached();
      return;
    }
    if (fault === "drop in the middle") {
      connection.tcp.destroySoon();
      return;
    }
    send(connection, options, chunk(contextId, tail));
    if (isCancelled) return;
  }
  if (times === "after") send(connection, options, timesOf(contextId, words));
  await turns(slowness);
  if (!live.delete(contextId)) return;
  send(connection, options, { type: "done", context_id: contextId, done: true, status_code: 200 });
}

/** True: nothing more comes for this context. */
function fail(fault: Fault, connection: ServerConnection, shared: Shared, contextId: string): boolean {
  const { socket, tcp } = connection;
  const error = (status: number, code: string | null): void => {
    shared.live.delete(contextId);
    send(connection, shared.options, errorEvent(status, code, `It failed for ${KEY}`, contextId));
  };
  if (fault === "garbage") socket.send(`{"type": ${KEY}`);
  else if (fault === "garbage in the audio") send(connection, shared.options, chunk(contextId, "no base64!"));
  else if (fault === "binary") socket.send(Buffer.of(1, 2, 3));
  else if (fault === "drop") tcp.destroy();
  else if (fault === "rate limit") error(429, "concurrency_limited");
  else if (fault === "server error") error(500, null);
  return fault !== "hang in the middle" && fault !== "drop in the middle" && fault !== "no audio";
}

function chunk(contextId: string, data: string): Chunk {
  return { type: "chunk", context_id: contextId, data, done: false, status_code: 206, step_time: 41.5 };
}

function timesOf(contextId: string, words: readonly FakeWord[]): Timestamps {
  return {
    type: "timestamps",
    context_id: contextId,
    word_timestamps: {
      words: words.map(({ word }) => word),
      start: words.map(({ startMs }) => startMs / 1_000),
      end: words.map(({ startMs, durationMs }) => (startMs + durationMs) / 1_000),
    },
    done: false,
    status_code: 206,
  };
}

function send(connection: ServerConnection, { splits = false }: FakeCartesiaOptions, event: Event): void {
  const { socket } = connection;
  if (socket.readyState !== socket.OPEN) return;
  const text = JSON.stringify(event);
  if (splits) sendInPieces(connection, text);
  else socket.send(text);
}
