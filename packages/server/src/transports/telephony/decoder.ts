/** Reads a text frame of a carrier: which events there are, and what becomes of each. */

import { MALFORMED, UNUSED, type CarrierEvent } from "./codec.ts";
import { audioEvent, digitEvent, markEvent } from "./events.ts";
import { fieldsOf, nameIn, parseFields, type Fields } from "./fields.ts";

type ReadEvent = (message: Fields, streamId: string | null) => CarrierEvent;

export interface CarrierEvents {
  /** Names of the field that names the stream, the usual one first. */
  readonly streamId: readonly string[];
  readonly start: ReadEvent;
  /** What this carrier has besides `start`, `media`, `dtmf` and `stop`. */
  readonly others: Readonly<Record<string, ReadEvent>>;
}

const COMMON: Readonly<Record<string, ReadEvent>> = {
  media: audioEvent,
  dtmf: digitEvent,
  stop: (_message, streamId) => ({ type: "stopped", streamId }),
};

/** `{"mark":{"name"}}` */
export const marked: ReadEvent = (message, streamId) => markEvent(fieldsOf(message["mark"]), streamId);

/** The carrier could not use something that was sent. */
export const failed: ReadEvent = () => ({ type: "failed" });

export function decoderOf({ streamId: names, start, others }: CarrierEvents): (text: string) => CarrierEvent {
  // Not an object: names of events come from the network.
  const readers = new Map(Object.entries({ ...COMMON, start, ...others }));
  return (text) => {
    const message = parseFields(text);
    if (message === null) return MALFORMED;
    const event = nameIn(message, "event");
    if (event === null) return MALFORMED;
    return readers.get(event)?.(message, nameIn(message, ...names)) ?? UNUSED;
  };
}
