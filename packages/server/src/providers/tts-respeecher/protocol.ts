/** What Respeecher sends on a socket, and what its errors mean. */

import { EngineFailure, isPermanentStatus } from "../../ports/engine-failure.ts";
import { bounded } from "../sockets/failure-text.ts";
import type { SocketProtocol } from "../sockets/socket-protocol.ts";
import { jsonObject } from "../sockets/vendor-json.ts";
import { RESPEECHER_SERVER_TYPES, RespeecherServerMessage } from "./contract.ts";

export type RespeecherMessage = RespeecherServerMessage;

export function respeecherProtocol(key: string): SocketProtocol<RespeecherMessage> {
  return {
    read(data) {
      const value = jsonObject(data);
      const parsed = RespeecherServerMessage.safeParse(value);
      if (!parsed.success) {
        const type: unknown = Reflect.get(value, "type");
        // A kind that Respeecher added later.
        if (typeof type === "string" && !RESPEECHER_SERVER_TYPES.includes(type)) return null;
        throw new Error("a message of an unknown form");
      }
      const message = parsed.data;
      const to = message.context_id ?? "";
      if (to !== "") return { to, message };
      // Which text it is about cannot be known.
      return message.type === "error" ? { lost: respeecherFailure(message, { key, worked: true }) } : null;
    },
  };
}

/** Statuses of an account that cannot go on, beside those of a wrong key, address or voice. */
const PAYMENT_REQUIRED = 402;
/** Of a message with a field that is refused: a setting or the text. */
const REFUSED_FIELDS: readonly unknown[] = [400, 422];

export interface RefusalContext {
  readonly key: string;
  /** The same settings have given audio before, so what is refused is the text. */
  readonly worked: boolean;
}

export function respeecherFailure(
  { error, status_code: status }: Extract<RespeecherMessage, { readonly type: "error" }>,
  { key, worked }: RefusalContext,
): EngineFailure {
  const words = bounded(error, [key]);
  const number = status === undefined ? "an error" : `status ${String(status)}`;
  return new EngineFailure(`Respeecher answered ${number}${words === "" ? "" : `: ${words}`}`, {
    isPermanent:
      isPermanentStatus(status) ||
      status === PAYMENT_REQUIRED ||
      (!worked && REFUSED_FIELDS.includes(status)),
    type: status === undefined ? "error" : String(status),
  });
}

/** Voices with different settings that are remembered; a deployment uses some dozens at a time. */
const MAX_SETTINGS = 1_000;

/** Settings that have given audio. The oldest are forgotten. */
export class RecentSettings {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > MAX_SETTINGS && oldest !== undefined) this.#names.delete(oldest);
  }
}
