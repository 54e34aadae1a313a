/**
 * A multiplexer: many connections share the single backend of the embedded database. Message groups run in the order of
 * arrival, but during a transaction the backend belongs to one connection and the others wait.
 */

import { IDLE_IN_TRANSACTION_LIMIT_MS } from "../database/transaction-limit.ts";
import { endingCopies, MessageGroups, type MessageGroup } from "./message-groups.ts";
import { PreparedGroups } from "./prepared-groups.ts";

/** Timeout of a whole transaction of another process: all queries of the service wait for it. */
export const FOREIGN_TRANSACTION_LIMIT_MS = 60_000;

/** Limits of one group: PostgreSQL's limit of a message, and far more than the commands send. */
const OWN_GROUP_LIMIT_BYTES = 1024 ** 3;
const FOREIGN_GROUP_LIMIT_BYTES = 16 * 1024 ** 2;

/** Limit for clients that send without waiting for answers, which `pg` does not do. */
export const MAXIMUM_WAITING_GROUPS = 100;

/** Settings of every connection of the service. */
export const EMBEDDED_SETTINGS = "set datestyle to 'ISO, MDY'; set timezone to 'UTC'";

export interface Backend {
  /** Executes one group and returns everything that the backend wrote. */
  readonly execute: (bytes: Uint8Array) => Uint8Array;
  readonly answer: (connectionId: number, bytes: Uint8Array) => void;
  /** The server side has ended the connection. */
  readonly end: (connectionId: number, reason: string) => void;
  /** Calls back once after the delay; the result cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

interface Connection {
  readonly id: number;
  /** Of another process, so its messages are not trusted. */
  readonly foreign: boolean;
  readonly stream: MessageGroups;
  readonly waiting: MessageGroup[];
}

export class Turns {
  readonly #backend: Backend;
  readonly #connections = new Map<number, Connection>();
  readonly #prepared = new PreparedGroups();
  /** Connections with waiting groups, in the order of arrival. */
  #queue: Connection[] = [];
  #owner: Connection | null = null;
  #cancelExpiry: (() => void) | null = null;
  #cancelForeignLimit: (() => void) | null = null;
  /** The foreign connection whose group ran last: its settings are still active in the shared session. */
  #setBy: Connection | null = null;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  open(id: number, foreign: boolean): void {
    const stream = new MessageGroups(foreign ? FOREIGN_GROUP_LIMIT_BYTES : OWN_GROUP_LIMIT_BYTES);
    this.#connections.set(id, { id, foreign, stream, waiting: [] });
  }

  /** Messages after the end of a connection are dropped. */
  receive(connectionId: number, bytes: Uint8Array): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    for (const group of connection.stream.push(bytes)) {
      if (group.kind === "startup") this.#backend.answer(connectionId, greeting.slice());
      else if (group.kind === "end") return this.close(connectionId);
      else if (group.kind === "refused") {
        return this.#end(
          connectionId,
          "The connection sent a message that the embedded database does not accept.",
        );
      } else if (connection.foreign && connection.waiting.length >= MAXIMUM_WAITING_GROUPS) {
        return this.#end(connectionId, "The connection sent too many queries at a time.");
      } else this.#enqueue(connection, group);
    }
  }

  /** Runs all groups that can run now. */
  run(): void {
    for (;;) {
      const connection = this.#nextConnection();
      const group = connection?.waiting.shift();
      if (connection === null || group === undefined) return;
      if (this.#setBy !== connection) this.#reset();
      if (connection.foreign) this.#setBy = connection;
      const answer = connection.foreign
        ? this.#backend.execute(endingCopies(group.bytes))
        : this.#prepared.run(group.bytes, this.#backend.execute);
      // Before the answer is posted: its memory is transferred with it.
      this.#setOwner(isInTransaction(answer) ? connection : null);
      this.#backend.answer(connection.id, answer);
    }
  }

  /** Rolls back the transaction of the connection and drops its waiting groups. */
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

  /** Resets the settings of the last foreign connection, because all share one session. Never within a transaction. */
  #reset(): void {
    if (this.#setBy === null) return;
    this.#setBy = null;
    this.#prepared.forget();
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
    this.#cancelExpiry = this.#endAfter(owner, IDLE_IN_TRANSACTION_LIMIT_MS, "was idle too long");
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
    throw new Error("The embedded database sent an answer without ReadyForQuery.");
  }
  return status !== "I".charCodeAt(0);
}

/** AuthenticationOk, and ReadyForQuery when idle. The backend, which has one session for all, is not involved. */
const greeting = new Uint8Array(Buffer.from("R\0\0\0\u0008\0\0\0\0Z\0\0\0\u0005I", "latin1"));

/** A simple Query. */
function query(text: string): Buffer {
  const message = Buffer.from(`Q\0\0\0\0${text}\0`, "latin1");
  message.writeUInt32BE(message.byteLength - 1, 1);
  return message;
}

const rollback = query("ROLLBACK");

/** `DISCARD ALL` must not be in one query with other statements. */
const resetting = [query("DISCARD ALL"), query(EMBEDDED_SETTINGS)];

const ERROR_RESPONSE = "E".charCodeAt(0);
