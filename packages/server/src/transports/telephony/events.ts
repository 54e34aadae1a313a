/** The parts of messages that several carriers have alike. */

import type { AudioFormat } from "../../media/audio-format.ts";
import { MALFORMED, UNUSED, type CarrierEvent } from "./codec.ts";
import { base64In, countIn, encodingOf, fieldsOf, keyIn, nameIn, type Fields } from "./fields.ts";

/** `{"media":{"track","chunk","payload"}}`; only the caller's track counts. */
export function audioEvent(message: Fields, streamId: string | null): CarrierEvent {
  const media = fieldsOf(message["media"]);
  const payload = base64In(media, "payload");
  if (payload === null) return MALFORMED;
  const track = nameIn(media, "track");
  if (track !== null && track !== "inbound") return UNUSED;
  return { type: "audio", streamId, order: countIn(media, "chunk"), payload };
}

/** `{"dtmf":{"digit"}}` */
export function digitEvent(message: Fields, streamId: string | null): CarrierEvent {
  const key = keyIn(fieldsOf(message["dtmf"]));
  return key === null ? MALFORMED : { type: "digit", streamId, key };
}

/** @param named the object that has the mark's `name` */
export function markEvent(named: Fields | null, streamId: string | null): CarrierEvent {
  const name = nameIn(named, "name");
  return name === null ? MALFORMED : { type: "marked", streamId, name };
}

export interface FormatRules {
  /** Where the carrier does not say. */
  readonly usual: AudioFormat;
  /** The byte order of linear samples. */
  readonly linear: "s16le" | "s16be";
  readonly linearRatesHz: readonly number[];
  /** G.711 that the carrier may announce. */
  readonly companded: readonly ("mulaw" | "alaw")[];
}

const G711_RATE_HZ = 8_000;

/** The format of an announcement; a text where it is none that the rules allow, for a sentence about the stream. */
export function formatIn(fields: Fields | null, rules: FormatRules): AudioFormat | string {
  const name = nameIn(fields, "encoding");
  const rate = countIn(fields, "sampleRate", "sample_rate");
  if (name === null && rate === null) return rules.usual;
  const encoding = name === null ? rules.usual.encoding : encodingOf(name);
  const sampleRateHz = rate ?? rules.usual.sampleRateHz;
  const announced = `${name ?? rules.usual.encoding} at ${String(sampleRateHz)} Hz`;
  if (encoding === "mulaw" || encoding === "alaw") {
    const isTaken = sampleRateHz === G711_RATE_HZ && rules.companded.includes(encoding);
    return isTaken ? { encoding, sampleRateHz } : `has the audio format ${announced}`;
  }
  const isTaken = encoding !== null && rules.linearRatesHz.includes(sampleRateHz);
  return isTaken ? { encoding: rules.linear, sampleRateHz } : `has the audio format ${announced}`;
}
