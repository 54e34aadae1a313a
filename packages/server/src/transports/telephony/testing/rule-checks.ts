/** What the fake carriers have in common: streams, commands, and checks of the messages that they are sent. */

import { bytesPerSample, type AudioFormat } from "../../../media/audio-format.ts";

export interface FakeStream {
  readonly streamId: string;
  readonly callId: string;
  /** What the carrier sends. */
  readonly input: AudioFormat;
  /** What it plays. */
  readonly output: AudioFormat;
}

export type Command =
  | { readonly type: "audio"; readonly payload: Uint8Array }
  | { readonly type: "mark"; readonly name: string }
  | { readonly type: "clear" }
  | { readonly type: "digits"; readonly digits: string };

export type Json = Readonly<Record<string, unknown>>;

/** What the carrier would refuse, or ignore without a word. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken";
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** An object with exactly these keys. */
export function exactly(value: unknown, keys: readonly string[], where: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RuleBroken(`${where} is not an object`);
  }
  const given = Object.keys(value).sort().join();
  if (given !== [...keys].sort().join()) throw new RuleBroken(`${where} has ${given}`);
  return value as Json;
}

export function same(given: unknown, wanted: unknown, where: string): void {
  if (given !== wanted) throw new RuleBroken(`${where} is ${JSON.stringify(given)}`);
}

export function textOf(value: unknown, where: string): string {
  if (typeof value !== "string" || value === "") throw new RuleBroken(`${where} is not a text`);
  return value;
}

export function payloadOf(value: unknown, { output }: FakeStream): Uint8Array {
  const text = textOf(value, "payload");
  if (!BASE64.test(text)) throw new RuleBroken("payload is not base64");
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  if (bytes.length === 0 || bytes.length % bytesPerSample(output.encoding) !== 0) {
    throw new RuleBroken(`payload of ${bytes.length} bytes`);
  }
  if (Buffer.from(bytes.subarray(0, 4)).toString("latin1") === "RIFF") throw new RuleBroken("a WAV header");
  return bytes;
}

export function parsed(text: string): Json {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new RuleBroken("not an object");
  return value as Json;
}

/** Audio, marks and clear of the carriers that name the stream in `idKey`, or nowhere. */
export function acceptCommon(text: string, stream: FakeStream, idKey: string | null): Command {
  const message = parsed(text);
  const ids = idKey === null ? [] : [idKey];
  if (idKey !== null) same(message[idKey], stream.streamId, idKey);
  switch (message["event"]) {
    case "media": {
      const { media } = exactly(message, ["event", ...ids, "media"], "media");
      return { type: "audio", payload: payloadOf(exactly(media, ["payload"], "media")["payload"], stream) };
    }
    case "mark": {
      const { mark } = exactly(message, ["event", ...ids, "mark"], "mark");
      return { type: "mark", name: textOf(exactly(mark, ["name"], "mark")["name"], "name") };
    }
    case "clear":
      exactly(message, ["event", ...ids], "clear");
      return { type: "clear" };
    default:
      throw new RuleBroken(`the event ${JSON.stringify(message["event"])}`);
  }
}
