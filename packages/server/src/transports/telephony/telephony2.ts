/**
 * Telnyx media streaming: snake_case, and no message of ours names the stream. What comes has the format that the start
 * announces; what goes out has that of `bidirectionalCodec` in the stream directive, which the start does not tell:
 * mu-law, which is its default, unless linear samples are announced, which only a directive asks for.
 */

import type { AudioFormat } from "../../media/audio-format.ts";
import type { CarrierCodec, CarrierCommand, CarrierEvent } from "./codec.ts";
import { decoderOf, failed, marked } from "./decoder.ts";
import { formatIn } from "./events.ts";
import { fieldsOf, nameIn, toBase64, type Fields } from "./fields.ts";

const MULAW: AudioFormat = { encoding: "mulaw", sampleRateHz: 8_000 };
const LINEAR_RATES_HZ = [8_000, 16_000, 22_050, 24_000, 48_000];

/** The byte order of linear samples: the carrier does not document it; RFC 3551 says `s16be`. */
export type LinearOrder = "s16be" | "s16le";

function started(message: Fields, streamId: string | null, linear: LinearOrder): CarrierEvent {
  const start = fieldsOf(message["start"]);
  const input = formatIn(fieldsOf(start?.["media_format"]), {
    usual: MULAW,
    linear,
    linearRatesHz: LINEAR_RATES_HZ,
    companded: ["mulaw", "alaw"],
  });
  if (typeof input === "string") return { type: "unsupported", reason: input };
  const carrierCallId = nameIn(start, "call_control_id");
  const output = input.encoding === linear ? input : MULAW;
  return { type: "started", start: { streamId, carrierCallId, input, output } };
}

function messageOf(command: CarrierCommand): Fields {
  switch (command.type) {
    case "audio":
      return { event: "media", media: { payload: toBase64(command.payload) } };
    case "mark":
      return { event: "mark", mark: { name: command.name } };
    case "clear":
      return { event: "clear" };
    case "digits":
  }
  throw new Error("telephony2 has no command for keys");
}

export function openTelephony2(linear: LinearOrder): CarrierCodec {
  return {
    kind: "telephony2",
    messageBytes: null,
    answersAtOnce: false,
    outlivesStream: true,
    sendsDigits: false,
    decode: decoderOf({
      streamId: ["stream_id"],
      start: (message, streamId) => started(message, streamId, linear),
      others: { mark: marked, error: failed },
    }),
    encode: (command) => JSON.stringify(messageOf(command)),
  };
}
