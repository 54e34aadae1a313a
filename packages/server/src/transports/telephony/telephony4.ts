/** Exotel agent streams: snake_case (camelCase is taken as well), and messages of audio of at least 3,200 bytes. */

import type { AudioFormat } from "../../media/audio-format.ts";
import type { CarrierCodec, CarrierCommand, CarrierEvent } from "./codec.ts";
import { decoderOf, marked } from "./decoder.ts";
import { formatIn } from "./events.ts";
import { fieldsOf, nameIn, toBase64, type Fields } from "./fields.ts";

const USUAL: AudioFormat = { encoding: "s16le", sampleRateHz: 8_000 };
/** The least that the carrier takes; it must be a multiple of 320. Small, because what has begun to play is not dropped. */
const MESSAGE_BYTES = 3_200;

function started(message: Fields, outer: string | null): CarrierEvent {
  const start = fieldsOf(message["start"]);
  const streamId = outer ?? nameIn(start, "stream_sid", "streamSid");
  if (streamId === null) return { type: "unsupported", reason: "has no stream_sid" };
  const announced = fieldsOf(start?.["media_format"]) ?? fieldsOf(start?.["mediaFormat"]);
  const format = formatIn(announced, {
    usual: USUAL,
    linear: "s16le",
    linearRatesHz: [8_000, 16_000, 24_000],
    companded: ["mulaw"],
  });
  if (typeof format === "string") return { type: "unsupported", reason: format };
  const carrierCallId = nameIn(start, "call_sid", "callSid");
  return { type: "started", start: { streamId, carrierCallId, input: format, output: format } };
}

const decode = decoderOf({ streamId: ["stream_sid", "streamSid"], start: started, others: { mark: marked } });

function messageOf(command: CarrierCommand, streamId: string | null): Fields {
  switch (command.type) {
    case "audio":
      return { event: "media", stream_sid: streamId, media: { payload: toBase64(command.payload) } };
    case "mark":
      return { event: "mark", stream_sid: streamId, mark: { name: command.name } };
    case "clear":
      return { event: "clear", stream_sid: streamId };
    case "digits":
  }
  throw new Error("telephony4 has no command for keys");
}

export const telephony4: CarrierCodec = {
  kind: "telephony4",
  messageBytes: MESSAGE_BYTES,
  answersAtOnce: true,
  outlivesStream: false,
  sendsDigits: false,
  decode,
  encode: (command, { streamId }) => JSON.stringify(messageOf(command, streamId)),
};
