/**
 * A realtime transcription server on 127.0.0.1, as strict as OpenAI's documentation: it refuses wrong keys, unknown
 * events and fields, audio before the settings, commits of less than 100 ms and binary messages.
 */

import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Clock } from "../../../pacing/clock.ts";
import {
  JSON_TYPE,
  openSocketServer,
  sendInFragments,
  type SocketServer,
  type UpgradeAnswer,
  urlOf,
} from "../../sockets/testing/socket-server.ts";
import { wordsIn } from "../../../ports/testing/word-audio.ts";
import { ClientEvent, RealtimeQuery, ServerEvent } from "../contract.ts";
import { SETTINGS } from "../messages.ts";

const RATE_HZ = 24_000;
const SHORTEST_COMMIT = RATE_HZ / 10;

export type CommitAct = "answer" | "hang" | "fail" | "garbage" | "drop" | "expire" | "hold" | "badModel";

export interface FakeRealtimeOptions {
  readonly key?: string;
  readonly refuse?: number | "never";
  /**
   * What happens at a commit, called with its number. "hold": its transcript comes after that of the next commit.
   */
  readonly atCommit?: (count: number) => CommitAct;
  /** The settings are never accepted. */
  readonly hangsAtStart?: boolean;
  /** Messages arrive in frames of one character. */
  readonly inPieces?: boolean;
  readonly clock?: Pick<Clock, "nowMs" | "after">;
}

export class FakeRealtime {
  readonly baseUrl: string;
  readonly violations: string[] = [];
  readonly connections: FakeConnection[] = [];
  readonly options: FakeRealtimeOptions;
  commits = 0;
  readonly #server: SocketServer;

  private constructor(server: SocketServer, options: FakeRealtimeOptions) {
    this.#server = server;
    this.baseUrl = `${server.baseUrl}/v1`;
    this.options = options;
  }

  static async open(options: FakeRealtimeOptions = {}): Promise<FakeRealtime> {
    let fake: FakeRealtime | null = null;
    const server = await openSocketServer({
      upgrade: (request) => fake?.answer(request) ?? "accept",
      connected: ({ socket }) => fake?.connections.push(new FakeConnection(fake, socket)),
    });
    fake = new FakeRealtime(server, options);
    return fake;
  }

  get requests(): readonly string[] {
    return this.#server.requests.map(({ url = "" }) => url);
  }

  answer(request: IncomingMessage): UpgradeAnswer {
    const { key = "sk-key", refuse } = this.options;
    if (refuse === "never") return "hang";
    const url = urlOf(request);
    const no = (status: number, message: string): UpgradeAnswer => ({
      status,
      headers: JSON_TYPE,
      body: JSON.stringify({ error: { message, type: "invalid_request_error", code: null } }),
    });
    if (refuse !== undefined) return no(refuse, `refused for ${key}`);
    if (url.pathname !== "/v1/realtime") return no(404, "no such path");
    if (request.headers.authorization !== `Bearer ${key}`)
      return no(401, `Incorrect API key provided: ${key}`);
    const query = RealtimeQuery.safeParse(Object.fromEntries(url.searchParams));
    if (query.success) return "accept";
    this.violations.push(query.error.message);
    return no(400, "unknown parameters");
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

export class FakeConnection {
  readonly socket: WebSocket;
  settings: unknown = null;
  readonly #fake: FakeRealtime;
  #buffer: number[] = [];
  #heard: string[] = [];
  #items = 0;
  #events = 0;
  #held: (() => void) | null = null;

  constructor(fake: FakeRealtime, socket: WebSocket) {
    this.#fake = fake;
    this.socket = socket;
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) this.#violate("a binary message");
      else this.#read(data.toString("utf8"));
    });
    this.#send({ type: "session.created", [SETTINGS]: { type: "transcription" } });
  }

  /** All words that were committed. */
  get heard(): string {
    return this.#heard.filter((text) => text !== "").join(" ");
  }

  #send(event: object): void {
    this.#events += 1;
    const text = JSON.stringify(ServerEvent.parse({ ...event, event_id: `event_${String(this.#events)}` }));
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.#fake.options.inPieces === true) sendInFragments(this.socket, text);
    else this.socket.send(text);
  }

  #violate(what: string): void {
    this.#fake.violations.push(what);
    this.socket.close(1008);
  }

  #error(code: string, message: string, eventId: string | null): void {
    const error = { type: "invalid_request_error", code, message, param: null, event_id: eventId };
    this.#send({ type: "error", error });
  }

  #read(text: string): void {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return this.#violate("a text that is not JSON");
    }
    const parsed = ClientEvent.safeParse(json);
    if (!parsed.success) return this.#violate(`an unknown event: ${parsed.error.message}`);
    const event = parsed.data;
    if (event.type === "session.update") {
      if (this.#fake.options.hangsAtStart === true) return;
      this.settings = event[SETTINGS];
      this.#send({ type: "session.updated", [SETTINGS]: event[SETTINGS] });
      return;
    }
    if (this.settings === null) return this.#violate(`${event.type} before the settings`);
    if (event.type === "input_audio_buffer.append") this.#append(event.audio);
    else if (event.type === "input_audio_buffer.clear") {
      this.#buffer = [];
      this.#send({ type: "input_audio_buffer.cleared" });
    } else this.#commit(event.event_id);
  }

  #append(audio: string): void {
    const bytes = Buffer.from(audio, "base64");
    if (bytes.length === 0 || bytes.length % 2 !== 0) return this.#violate("audio that is no samples");
    for (let at = 0; at < bytes.length; at += 2) this.#buffer.push(bytes.readInt16LE(at));
  }

  #commit(eventId: string): void {
    this.#fake.commits += 1;
    if (this.#buffer.length < SHORTEST_COMMIT) {
      return this.#error("input_audio_buffer_commit_empty", "the buffer is too small", eventId);
    }
    const transcript = wordsIn(Int16Array.from(this.#buffer), RATE_HZ)
      .map(({ word }) => word)
      .join(" ");
    this.#buffer = [];
    this.#heard.push(transcript);
    const act = this.#fake.options.atCommit?.(this.#fake.commits) ?? "answer";
    if (act === "drop") return this.socket.terminate();
    if (act === "garbage") return this.socket.send("{}");
    if (act === "expire") return this.#error("session_expired", "60 minutes are over", null);
    if (act === "badModel") return this.#error("model_not_found", "there is no such model", eventId);
    const previous = this.#items === 0 ? null : `item_${String(this.#items)}`;
    this.#items += 1;
    const itemId = `item_${String(this.#items)}`;
    this.#send({ type: "input_audio_buffer.committed", item_id: itemId, previous_item_id: previous });
    if (act === "hang") return;
    if (act === "hold") {
      this.#held = () => {
        this.#transcribe(itemId, transcript);
      };
      return;
    }
    if (act === "fail") {
      const error = {
        type: "transcription_error",
        code: "audio_unintelligible",
        message: "it failed for sk-key",
      };
      this.#send({
        type: "conversation.item.input_audio_transcription.failed",
        item_id: itemId,
        content_index: 0,
        error,
      });
      return;
    }
    this.#transcribe(itemId, transcript);
    this.#held?.();
    this.#held = null;
  }

  #transcribe(itemId: string, transcript: string): void {
    const part = { item_id: itemId, content_index: 0 };
    const type = "conversation.item.input_audio_transcription";
    for (const [index, word] of transcript.split(" ").entries()) {
      if (word === "") continue;
      this.#send({ type: `${type}.delta`, ...part, delta: index === 0 ? word : ` ${word}` });
    }
    this.#send({ type: `${type}.completed`, ...part, transcript, usage: { type: "duration", seconds: 1 } });
  }
}
