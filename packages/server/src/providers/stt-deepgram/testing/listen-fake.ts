/** What both fakes of Deepgram have: a server with its connections, which keep the audio and close when they are idle. */

import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Clock } from "../../../pacing/clock.ts";
import {
  openSocketServer,
  type SocketServer,
  type UpgradeAnswer,
  urlOf,
} from "../../sockets/testing/socket-server.ts";
import { queryOf, ReceivedAudio, type Query } from "./received.ts";

export abstract class ListenFake<Connection extends ListenConnection> {
  readonly baseUrl: string;
  /** What a client did wrong. */
  readonly violations: string[] = [];
  readonly connections: Connection[] = [];
  readonly #server: SocketServer;

  constructor(server: SocketServer) {
    this.#server = server;
    this.baseUrl = server.baseUrl;
  }

  get requests(): readonly string[] {
    return this.#server.requests.map(({ url = "" }) => url);
  }

  abstract answer(request: IncomingMessage): UpgradeAnswer;
  abstract connect(socket: WebSocket, url: URL): Connection;

  async close(): Promise<void> {
    await this.#server.close();
  }
}

/** A server whose upgrades and connections are those of the fake that is made for it. */
export async function openListenFake<Fake extends ListenFake<ListenConnection>>(
  fakeOf: (server: SocketServer) => Fake,
): Promise<Fake> {
  let fake: Fake | null = null;
  const server = await openSocketServer({
    upgrade: (request) => fake?.answer(request) ?? "accept",
    connected: ({ socket, request }) => {
      if (fake !== null) fake.connections.push(fake.connect(socket, urlOf(request)));
    },
  });
  fake = fakeOf(server);
  return fake;
}

export interface ListenConnectionOptions {
  readonly socket: WebSocket;
  readonly url: URL;
  /** Parameters that may be repeated. */
  readonly lists: readonly string[];
  readonly violations: string[];
  /** For the closing of idle sockets. Unset: no socket is idle. */
  readonly clock: Pick<Clock, "after"> | undefined;
  readonly idleMs: number;
}

/** One connection. */
export abstract class ListenConnection {
  readonly query: Query;
  readonly messages: string[] = [];
  readonly socket: WebSocket;
  closeCode: number | null = null;
  protected readonly audio = new ReceivedAudio();
  readonly #options: ListenConnectionOptions;
  #cancelIdle: (() => void) | null = null;

  constructor(options: ListenConnectionOptions) {
    const { socket, url, lists } = options;
    this.#options = options;
    this.socket = socket;
    this.query = queryOf(url, lists);
    this.notIdle();
    socket.on("message", (data: Buffer, isBinary) => {
      this.notIdle();
      if (isBinary) this.#take(data);
      else {
        this.messages.push(data.toString("utf8"));
        this.read(data.toString("utf8"));
      }
    });
    socket.on("close", (code) => {
      this.closeCode = code;
      this.#cancelIdle?.();
    });
  }

  /** Audio so far, in ms. */
  get audioMs(): number {
    return this.audio.ms;
  }

  /** The words of all audio so far. */
  heard(): string {
    return this.audio.words();
  }

  /** A text message. */
  protected abstract read(text: string): void;
  /** What changes with the audio that has come. */
  protected abstract hear(): void;

  protected notIdle(): void {
    this.#cancelIdle?.();
    const { clock, idleMs } = this.#options;
    this.#cancelIdle =
      clock?.after(idleMs, () => {
        this.socket.close(1011, "NET-0001");
      }) ?? null;
  }

  protected violate(what: string): void {
    this.#options.violations.push(what);
    this.socket.close(1008, "DATA-0000");
  }

  #take(data: Buffer): void {
    const wrong = this.audio.take(data);
    if (wrong === null) this.hear();
    else this.violate(wrong);
  }
}
