/** What LMNT sends on a socket, and what it means. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { bounded } from "../sockets/failure-text.ts";
import type { SocketProtocol } from "../sockets/socket-protocol.ts";
import { jsonObject } from "../sockets/vendor-json.ts";
import { LMNT_PERMANENT_ERRORS, LMNT_SERVER_TYPES, LmntServerMessage } from "./contract.ts";

type Told = Exclude<LmntServerMessage, { readonly type: "error" }>;

/** `beforeMs`: the audio that the socket gave before this message. */
export type LmntMessage =
  | { readonly type: "audio"; readonly bytes: Uint8Array; readonly beforeMs: number }
  | (Extract<Told, { readonly type: "timestamps" }> & { readonly beforeMs: number })
  | Exclude<Told, { readonly type: "timestamps" }>;

const SAMPLE_BYTES = 2;

export interface LmntProtocolOptions {
  readonly key: string;
  readonly sampleRateHz: number;
}

/** For one socket: it counts the audio of that socket. */
export function lmntProtocol(
  greeting: string,
  { key, sampleRateHz }: LmntProtocolOptions,
): SocketProtocol<LmntMessage> {
  let audioBytes = 0;
  let isReady = false;
  const audioMs = (): number => (audioBytes / SAMPLE_BYTES / sampleRateHz) * 1_000;
  return {
    greeting: [greeting],
    isReady: ({ type }) => type === "ready",
    read(data) {
      if (typeof data !== "string") {
        const beforeMs = audioMs();
        audioBytes += data.byteLength;
        return { to: null, message: { type: "audio", bytes: data, beforeMs } };
      }
      const message = read(data);
      if (message === null) return null;
      if (message.type === "error") return { lost: failureOf(message, key, isReady) };
      isReady ||= message.type === "ready";
      if (message.type === "timestamps") return { to: null, message: { ...message, beforeMs: audioMs() } };
      return { to: null, message };
    },
  };
}

/** Null: a message of a kind that LMNT added later. */
function read(data: string): LmntServerMessage | null {
  const value = jsonObject(data);
  const parsed = LmntServerMessage.safeParse(value);
  if (parsed.success) return parsed.data;
  const type: unknown = Reflect.get(value, "type");
  if (typeof type === "string" && !LMNT_SERVER_TYPES.includes(type)) return null;
  throw new Error("a message of an unknown form");
}

interface ErrorFields {
  readonly type?: string | undefined;
  readonly message?: string | undefined;
}

function failureOf(
  { error }: Extract<LmntServerMessage, { readonly type: "error" }>,
  key: string,
  isReady: boolean,
): EngineFailure {
  const { type = "error", message = "" }: ErrorFields =
    typeof error === "string" ? { message: error } : error;
  const words = bounded(message, [key]);
  // Before the socket is ready, it is the voice or a setting that is refused, and not a text.
  const isPermanent = LMNT_PERMANENT_ERRORS.includes(type) || (type === "invalid_request_error" && !isReady);
  return new EngineFailure(`LMNT answered ${bounded(type, [key])}${words === "" ? "" : `: ${words}`}`, {
    isPermanent,
    type: bounded(type, [key]),
  });
}
