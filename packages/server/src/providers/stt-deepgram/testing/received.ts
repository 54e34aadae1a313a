/** What both fakes of Deepgram do with upgrades and audio. */

import type { IncomingMessage } from "node:http";
import { wordsIn } from "../../../ports/testing/word-audio.ts";
import { JSON_TYPE, type UpgradeAnswer, urlOf } from "../../sockets/testing/socket-server.ts";
import { Refusal } from "../contract.ts";

const RATE_HZ = 16_000;
/** Of one message: 250 ms. */
const MESSAGE_MAX_BYTES = RATE_HZ / 2;

export function refusal(status: number, code: string, message: string): UpgradeAnswer {
  const body = Refusal.parse({ err_code: code, err_msg: message, request_id: "r-1" });
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) };
}

/** Null: path and key are right. */
export function wrongUpgrade(request: IncomingMessage, path: string, key: string): UpgradeAnswer | null {
  if (urlOf(request).pathname !== path) return refusal(404, "NOT_FOUND", "no such path");
  if (request.headers.authorization === `Token ${key}`) return null;
  return refusal(401, "INVALID_AUTH", "Invalid credentials.");
}

export type Query = Readonly<Record<string, string | string[]>>;

/** Parameters that may be repeated are lists. */
export function queryOf(url: URL, lists: readonly string[]): Query {
  return Object.fromEntries(
    [...new Set(url.searchParams.keys())].map((name) => {
      const values = url.searchParams.getAll(name);
      return [name, lists.includes(name) || values.length > 1 ? values : (values[0] ?? "")];
    }),
  );
}

/** The audio of a connection. */
export class ReceivedAudio {
  #audio = new Int16Array(RATE_HZ);
  samples = 0;

  get ms(): number {
    return (this.samples * 1_000) / RATE_HZ;
  }

  /** @returns what is wrong with the message; null: nothing */
  take(data: Buffer): string | null {
    if (data.length === 0) return "an empty message";
    if (data.length % 2 !== 0) return "half of a sample";
    if (data.length > MESSAGE_MAX_BYTES) return "a message of more than 250 ms";
    const count = data.length / 2;
    while (this.samples + count > this.#audio.length) {
      const larger = new Int16Array(this.#audio.length * 2);
      larger.set(this.#audio);
      this.#audio = larger;
    }
    for (let at = 0; at < count; at += 1) this.#audio[this.samples + at] = data.readInt16LE(2 * at);
    this.samples += count;
    return null;
  }

  from(sample: number): Int16Array {
    return this.#audio.subarray(sample, this.samples);
  }

  /** The words of all of it. */
  words(): string {
    return wordsIn(this.from(0), RATE_HZ)
      .map(({ word }) => word)
      .join(" ");
  }
}

/** @returns null for a text that is not JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
