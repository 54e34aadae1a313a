/** An HTTP server on loopback that plays a carrier: strict about what it gets, and faulty when told to be. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  CarrierFault,
  CarrierSubject,
  PlacedCall,
} from "../../../ports/testing/carriers-conformance.ts";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly body: string;
}

export interface FakeReply {
  readonly status: number;
  readonly json?: unknown;
}

export interface FakeState {
  readonly placed: PlacedCall[];
  /** Ids of calls that are not over. */
  readonly live: Set<string>;
  readonly ended: string[];
  /** Ids of live calls that somebody has answered. */
  readonly answered: Set<string>;
  readonly redirected: { readonly id: string; readonly url: string }[];
  readonly newId: () => string;
}

export interface FakeCarrierServer {
  readonly baseUrl: string;
  readonly state: FakeState;
  readonly failWith: (fault: CarrierFault | null) => void;
  /** Idempotent. */
  readonly stop: () => Promise<void>;
}

export async function openFakeServer(
  answer: (request: FakeRequest, state: FakeState) => FakeReply,
): Promise<FakeCarrierServer> {
  let fault: CarrierFault | null = null;
  let ids = 0;
  const state: FakeState = {
    placed: [],
    live: new Set(),
    ended: [],
    answered: new Set(),
    redirected: [],
    newId: () => `call-${(ids += 1)}`,
  };
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      if (fault !== null && fault.kind !== "acts_silently") {
        fail(response, fault);
        return;
      }
      const reply = answer(requestOf(request, body), state);
      if (fault === null) send(response, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let stopping: Promise<void> | null = null;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    state,
    failWith: (next) => {
      fault = next;
    },
    stop: () =>
      (stopping ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      })),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function requestOf(request: IncomingMessage, body: string): FakeRequest {
  const { method = "", url = "", headers } = request;
  return {
    method,
    path: url,
    authorization: headers.authorization ?? "",
    contentType: headers["content-type"] ?? "",
    body,
  };
}

type AnsweredFault = Exclude<CarrierFault, { readonly kind: "acts_silently" }>;

function send(response: ServerResponse, { status, json }: FakeReply): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(json === undefined ? "" : JSON.stringify(json));
}

function fail(response: ServerResponse, fault: AnsweredFault): void {
  if (fault.kind === "hangs") return;
  if (fault.kind === "closes") {
    response.socket?.destroy();
    return;
  }
  const retry = fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
  const type = fault.body.startsWith("<") ? "text/html" : "application/json";
  response.writeHead(fault.status, { "content-type": type, ...retry });
  response.end(fault.body);
}

/** The parameters besides those that the fake has read itself, as text. */
export function otherParams(
  params: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Record<string, string> {
  const others = Object.entries(params).filter(([name]) => !known.includes(name));
  return Object.fromEntries(others.map(([name, value]) => [name, String(value)]));
}

/** Carriers take https alone; the tests of the whole service run on this machine without it. */
export function isReachable(url: string): boolean {
  return /^(?:https:\/\/|http:\/\/127\.0\.0\.1:)/.test(url);
}

/** What the subject of the suite has besides its own protocol. */
export function observedBy({ state, failWith, stop }: FakeCarrierServer) {
  return {
    failWith,
    stop,
    placed: () => state.placed,
    ended: () => state.ended,
    redirected: () => state.redirected,
    answer: (id: string): void => {
      state.live.add(id);
      state.answered.add(id);
    },
  };
}

/** The status of a callback as all carriers write it. */
export function statusWord(state: Parameters<CarrierSubject["callback"]>[0]): string {
  const words = { no_answer: "no-answer", answered: "in-progress" } as const;
  return state === "no_answer" || state === "answered" ? words[state] : state;
}
