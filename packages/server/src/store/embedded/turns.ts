/**
 * Lets many connections share the one backend of the embedded database. Groups run first come, first served, but from
 * the first statement of a transaction to its last the backend belongs to one connection and the others wait.
 */

import { MessageGroups, type MessageGroup } from "./message-groups.ts";

/**
 * A transaction whose connection asks for nothing this long is rolled back: everything else waits for it. The same
 * number as on PostgreSQL, where the server sees to it.
 */
export const IDLE_IN_TRANSACTION_LIMIT_MS = 15_000;

export interface Backend {
  /** Executes one group and gives everything that the backend wrote. */
  readonly execute: (bytes: Uint8Array) => Uint8Array;
  readonly answer: (connectionId: number, bytes: Uint8Array) => void;
  readonly expire: (connectionId: number) => void;
  /** Calls back once after the time; the result cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

interface Connection {
  readonly id: number;
  readonly stream: MessageGroups;
  readonly waiting: MessageGroup[];
}

export class Turns {
  readonly #backend: Backend;
  readonly #connections = new Map<number, Connection>();
  /** Connections with waiting groups, in the order in which they asked. */
  #queue: Connection[] = [];
  #owner: Connection | null = null;
  #cancelExpiry: (() => void) | null = null;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  receive(connectionId: number, bytes: Uint8Array): void {
    const connection = this.#connectionOf(connectionId);
    for (const group of connection.stream.push(bytes)) {
      if (group.kind === "startup") this.#backend.answer(connectionId, greeting.slice());
      else if (group.kind === "end") this.close(connectionId);
      else this.#enqueue(connection, group);
    }
  }

  /** Runs everything that may run now. */
  run(): void {
    for (;;) {
      const connection = this.#nextConnection();
      const group = connection?.waiting.shift();
      if (connection === null || group === undefined) return;
      const answer = this.#backend.execute(group.bytes);
      // Before the answer is handed over: its memory goes with it.
      this.#setOwner(isInTransaction(answer) ? connection : null);
      this.#backend.answer(connection.id, answer);
    }
  }

  /** Rolls back what the connection had begun and drops what it still asked for. */
  close(connectionId: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    this.#connections.delete(connectionId);
    connection.waiting.length = 0;
    this.#queue = this.#queue.filter((waiting) => waiting !== connection);
    if (this.#owner === connection) {
      this.#backend.execute(rollback);
      this.#setOwner(null);
    }
  }

  #connectionOf(id: number): Connection {
    const present = this.#connections.get(id);
    if (present !== undefined) return present;
    const made: Connection = { id, stream: new MessageGroups(), waiting: [] };
    this.#connections.set(id, made);
    return made;
  }

  #enqueue(connection: Connection, group: MessageGroup): void {
    connection.waiting.push(group);
    this.#queue.push(connection);
  }

  #nextConnection(): Connection | null {
    const index = this.#owner === null ? 0 : this.#queue.indexOf(this.#owner);
    if (index < 0) return null;
    return this.#queue.splice(index, 1)[0] ?? null;
  }

  #setOwner(owner: Connection | null): void {
    this.#owner = owner;
    this.#cancelExpiry?.();
    this.#cancelExpiry = null;
    if (owner === null) return;
    this.#cancelExpiry = this.#backend.after(IDLE_IN_TRANSACTION_LIMIT_MS, () => {
      this.close(owner.id);
      this.#backend.expire(owner.id);
      this.run();
    });
  }
}

/** Every answer ends with ReadyForQuery: `Z`, length 5, and I (idle), T (in a transaction) or E (in a failed one). */
function isInTransaction(answer: Uint8Array): boolean {
  const status = answer.at(-1);
  if (answer.at(-6) !== "Z".charCodeAt(0) || status === undefined) {
    throw new Error("The embedded database answered without saying that it is ready.");
  }
  return status !== "I".charCodeAt(0);
}

/** AuthenticationOk, and ReadyForQuery when idle. Nothing is asked of the backend, which has one session for all. */
const greeting = new Uint8Array(Buffer.from("R\0\0\0\u0008\0\0\0\0Z\0\0\0\u0005I", "latin1"));

/** A simple Query. */
const rollback = Buffer.from("Q\0\0\0\u000DROLLBACK\0", "latin1");
