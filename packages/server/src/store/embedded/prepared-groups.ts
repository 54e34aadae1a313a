/**
 * Prepares marked statements in the one session of the embedded database, for all connections of the service together. The
 * clients send every statement with its text; here a text that the session knows is left out, and its parameters refer to
 * the prepared statement by name. Connections cannot do this themselves, because each would use the name for the first time.
 */

import { PREPARED_MARK } from "../database/prepared-mark.ts";

/** Prepared texts. The service has about forty; further ones are parsed and planned for each execution. */
const MAX_PREPARED = 100;

/**
 * Executions after which a statement is prepared anew. Nothing analyses the tables of the embedded database, so a plan that
 * was made for a small table would stay when the table has grown. PostgreSQL plans the first five executions each, so this
 * is one planning in a hundred.
 */
export const EXECUTIONS_OF_A_PLAN = 500;

const MARK = Buffer.from(PREPARED_MARK, "latin1");
const PARSE = "P".charCodeAt(0);
const BIND = "B".charCodeAt(0);
const PARSE_COMPLETE = "1".charCodeAt(0);
const CLOSE_COMPLETE = "3".charCodeAt(0);
const ERROR_RESPONSE = "E".charCodeAt(0);
const HEADER_BYTES = 5;
/** ParseComplete and CloseComplete have no content. */
const EMPTY_MESSAGE_BYTES = HEADER_BYTES;
/** The empty name of a portal or of a statement. */
const NO_NAME_BYTES = 1;
/** The number of parameter types. */
const TYPES_BYTES = 2;

const parseComplete = new Uint8Array([PARSE_COMPLETE, 0, 0, 0, 4]);

type Execute = (bytes: Uint8Array) => Uint8Array;

interface Prepared {
  readonly name: string;
  /** Executions until it is prepared anew; 0: the session does not have it. */
  left: number;
}

/** Parse and Bind without names, and what follows them. */
interface MarkedGroup {
  readonly text: string;
  readonly parse: Buffer;
  readonly bind: Buffer;
  readonly rest: Buffer;
}

export class PreparedGroups {
  readonly #prepared = new Map<string, Prepared>();

  /** Executes a group of a connection of the service; other groups than marked statements as they are. */
  run(group: Buffer, execute: Execute): Uint8Array {
    const marked = readMarked(group);
    const prepared = marked === null ? null : this.#preparedOf(marked.text);
    if (marked === null || prepared === null) return execute(group);
    return prepared.left > 0 ? again(marked, prepared, execute) : first(marked, prepared, execute);
  }

  /** The session has lost its prepared statements. */
  forget(): void {
    for (const prepared of this.#prepared.values()) prepared.left = 0;
  }

  #preparedOf(text: string): Prepared | null {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= MAX_PREPARED) return null;
    const made: Prepared = { name: `parley_service_${String(this.#prepared.size)}`, left: 0 };
    this.#prepared.set(text, made);
    return made;
  }
}

/** With the text, under its name. */
function first({ parse, bind, rest }: MarkedGroup, prepared: Prepared, execute: Execute): Uint8Array {
  const { name } = prepared;
  const named = [closing(name), withName(parse, HEADER_BYTES, name), boundTo(bind, name), rest];
  const answer = execute(Buffer.concat(named));
  const own = answer[0] === CLOSE_COMPLETE ? answer.slice(EMPTY_MESSAGE_BYTES) : answer;
  if (own[0] === PARSE_COMPLETE) prepared.left = EXECUTIONS_OF_A_PLAN;
  return own;
}

function again({ bind, rest }: MarkedGroup, prepared: Prepared, execute: Execute): Uint8Array {
  const answer = execute(Buffer.concat([boundTo(bind, prepared.name), rest]));
  // An error at the beginning: of a parameter, or of the statement itself, which is then prepared anew.
  prepared.left = answer[0] === ERROR_RESPONSE ? 0 : prepared.left - 1;
  const whole = new Uint8Array(EMPTY_MESSAGE_BYTES + answer.byteLength);
  whole.set(parseComplete);
  whole.set(answer, EMPTY_MESSAGE_BYTES);
  return whole;
}

/** Null: another group, or one that is marked but has another form than `pg` gives it. */
function readMarked(group: Buffer): MarkedGroup | null {
  const textAt = HEADER_BYTES + NO_NAME_BYTES;
  const isMarked = group[0] === PARSE && group[HEADER_BYTES] === 0 && startsWithMark(group, textAt);
  if (!isMarked) return null;
  const parseEnd = messageEnd(group, 0);
  const textEnd = parseEnd - TYPES_BYTES - 1;
  if (group.readUInt16BE(parseEnd - TYPES_BYTES) !== 0 || group[textEnd] !== 0) return null;
  const namesAt = parseEnd + HEADER_BYTES;
  const hasBind = group[parseEnd] === BIND && group[namesAt] === 0 && group[namesAt + NO_NAME_BYTES] === 0;
  if (!hasBind) return null;
  const bindEnd = messageEnd(group, parseEnd);
  return {
    text: group.toString("latin1", textAt, textEnd),
    parse: group.subarray(0, parseEnd),
    bind: group.subarray(parseEnd, bindEnd),
    rest: group.subarray(bindEnd),
  };
}

function startsWithMark(group: Buffer, at: number): boolean {
  return group.subarray(at, at + MARK.byteLength).equals(MARK);
}

function messageEnd(group: Buffer, at: number): number {
  return at + 1 + group.readUInt32BE(at + 1);
}

/** The name of the portal stays empty. */
function boundTo(bind: Buffer, name: string): Buffer {
  return withName(bind, HEADER_BYTES + NO_NAME_BYTES, name);
}

/** The same message with a name in the place of an empty one. */
function withName(message: Buffer, at: number, name: string): Buffer {
  const named = Buffer.concat([message.subarray(0, at), Buffer.from(name, "latin1"), message.subarray(at)]);
  named.writeUInt32BE(named.byteLength - 1, 1);
  return named;
}

/** Close of a prepared statement; one that there is not is no error. */
function closing(name: string): Buffer {
  const message = Buffer.from(`C\0\0\0\0S${name}\0`, "latin1");
  message.writeUInt32BE(message.byteLength - 1, 1);
  return message;
}
