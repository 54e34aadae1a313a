/** Twilio Media Streams: camelCase, mu-law at 8 kHz, and every message of ours names the stream. */

import type { AudioFormat } from "../../media/audio-format.ts";
import type { CarrierCodec, CarrierCommand, CarrierEvent, StreamStart } from "./codec.ts";
import { decoderOf, marked } from "./decoder.ts";
import { formatIn } from "./events.ts";
import { fieldsOf, nameIn, toBase64, type Fields } from "./fields.ts";

const MULAW: AudioFormat = { encoding: "mulaw", sampleRateHz: 8_000 };

function started(message: Fields, outer: string | null): CarrierEvent {
  const start = fieldsOf(message["start"]);
  const streamId = outer ?? nameIn(start, "streamSid");
  if (streamId === null) return { type: "unsupported", reason: "has no streamSid" };
  const rules = { usual: MULAW, linear: "s16le", linearRatesHz: [], companded: ["mulaw"] } as const;
  const input = formatIn(fieldsOf(start?.["mediaFormat"]), rules);
  if (typeof input === "string") return { type: "unsupported", reason: input };
  const carrierCallId = nameIn(start, "callSid");
  return { type: "started", start: { streamId, carrierCallId, input, output: MULAW } };
}

const decode = decoderOf({ streamId: ["streamSid"], start: started, others: { mark: marked } });

/** A surplus field is an error there (31951). */
function messageOf(command: CarrierCommand, streamSid: string | null): Fields {
  switch (command.type) {
    case "audio":
      return { event: "media", streamSid, media: { payload: toBase64(command.payload) } };
    case "mark":
      return { event: "mark", streamSid, mark: { name: command.name } };
    case "clear":
      return { event: "clear", streamSid };
    case "digits":
  }
  throw new Error("telephony1 has no command for keys");
}

export const telephony1: CarrierCodec = {
  kind: "telephony1",
  messageBytes: null,
  answersAtOnce: false,
  outlivesStream: false,
  sendsDigits: false,
  decode,
  encode: (command: CarrierCommand, { streamId }: StreamStart) =>
    JSON.stringify(messageOf(command, streamId)),
};
