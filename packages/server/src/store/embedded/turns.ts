/**
 * Lets many connections share the one backend of the embedded database. Groups run first come, first served, but from
 * the first statement of a transaction to its last the backend belongs to one connection and the others wait.
 */

import { endingCopies, MessageGroups, type MessageGroup } from "./message-groups.ts";

/**
 * A transaction whose connection asks for nothing this long is rolled back: everything else waits for it. The same
 * number as on PostgreSQL, where the server sees to it.
 */
export const IDLE_IN_TRANSACTION_LIMIT_MS = 15_000;

/** A whole transaction of another process, however busy: everything of the service waits for it. */
export const FOREIGN_TRANSACTION_LIMIT_MS = 60_000;

/** Of one group: what PostgreSQL takes in one message, and a good deal more than our commands send. */
const OWN_GROUP_LIMIT_BYTES = 1024 ** 3;
const FOREIGN_GROUP_LIMIT_BYTES = 16 * 1024 ** 2;

/** Clients ask one thing at a time; `pg` does so as well. */
export const MAXIMUM_WAITING_GROUPS = 100;

/** What every connection of ours sets when it opens. */
export const EMBEDDED_SETTINGS = "set datestyle to 'ISO, MDY'; set timezone to 'UTC'";

export interface Backend {
  /** Executes one group and gives everything that the backend wrote. */
  readonly execute: (bytes: Uint8Array) => Uint8Array;
  readonly answer: (connectionId: number, bytes: Uint8Array) => void;
  /** The connection is over, for a reason that its client did not give. */
  readonly end: (connectionId: number, reason: string) => void;
  /** Calls back once after the time; the result cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

interface Connection {
  readonly id: number;
  /** Of another process: it may ask for anything. */
  readonly foreign: boolean;
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
  #cancelForeignLimit: (() => void) | null = null;
  /** The foreign connection that asked last: what it set in the one session is still set. */
  #setBy: Connection | null = null;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  open(id: number, foreign: boolean): void {
    const stream = new MessageGroups(foreign ? FOREIGN_GROUP_LIMIT_BYTES : OWN_GROUP_LIMIT_BYTES);
    this.#connections.set(id, { id, foreign, stream, waiting: [] });
  }

  /** What comes after the end of a connection is dropped. */
  receive(connectionId: number, bytes: Uint8Array): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    for (const group of connection.stream.push(bytes)) {
      if (group.kind === "startup") this.#backend.answer(connectionId, greeting.slice());
      else if (group.kind === "end") return this.close(connectionId);
      else if (group.kind === "refused") {
        return this.#end(connectionId, "The connection sent what the embedded database does not take.");
      } else if (connection.foreign && connection.waiting.length >= MAXIMUM_WAITING_GROUPS) {
        return this.#end(connectionId, "The connection asked for too much at a time.");
      } else this.#enqueue(connection, group);
    }
  }

  /** Runs everything that may run now. */
  run(): void {
    for (;;) {
      const connection = this.#nextConnection();
      const group = connection?.waiting.shift();
      if (connection === null || group === undefined) return;
      if (this.#setBy !== connection) this.#reset();
      if (connection.foreign) this.#setBy = connection;
      const answer = this.#backend.execute(connection.foreign ? endingCopies(group.bytes) : group.bytes);
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
    if (this.#setBy === connection) this.#reset();
  }

  #end(connectionId: number, reason: string): void {
    this.close(connectionId);
    this.#backend.end(connectionId, reason);
  }

  /** Takes back what the last foreign connection set: there is one session for all. Never within a transaction. */
  #reset(): void {
    if (this.#setBy === null) return;
    this.#setBy = null;
    for (const statement of resetting) {
      const answer = this.#backend.execute(statement);
      if (isInTransaction(answer) || answer[0] === ERROR_RESPONSE) {
        throw new Error("The session of the embedded database could not be reset.");
      }
    }
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
    if (owner !== this.#owner) {
      this.#cancelForeignLimit?.();
      this.#cancelForeignLimit =
        owner?.foreign === true ? this.#endAfter(owner, FOREIGN_TRANSACTION_LIMIT_MS, "took too long") : null;
    }
    this.#owner = owner;
    this.#cancelExpiry?.();
    this.#cancelExpiry = null;
    if (owner === null) return;
    this.#cancelExpiry = this.#endAfter(owner, IDLE_IN_TRANSACTION_LIMIT_MS, "stood still too long");
  }

  #endAfter(owner: Connection, delayMs: number, why: string): () => void {
    return this.#backend.after(delayMs, () => {
      this.#end(owner.id, `The transaction was rolled back because it ${why}.`);
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
function query(text: string): Buffer {
  const message = Buffer.from(`Q\0\0\0\0${text}\0`, "latin1");
  message.writeUInt32BE(message.byteLength - 1, 1);
  return message;
}

const rollback = query("ROLLBACK");

/** The first one refuses to be together with others. */
const resetting = [query("DISCARD ALL"), query(EMBEDDED_SETTINGS)];

const ERROR_RESPONSE = "E".charCodeAt(0);
