/** Plivo audio streams: camelCase, no greeting, checkpoints in place of marks, and keys by a message. */

import type { AudioFormat } from "../../media/audio-format.ts";
import type { CarrierCodec, CarrierCommand, CarrierEvent, StreamStart } from "./codec.ts";
import { decoderOf, failed } from "./decoder.ts";
import { formatIn, markEvent } from "./events.ts";
import { fieldsOf, nameIn, toBase64, type Fields } from "./fields.ts";

/** That of a stream directive without `contentType`. */
const USUAL: AudioFormat = { encoding: "s16le", sampleRateHz: 8_000 };

function started(message: Fields, outer: string | null): CarrierEvent {
  const start = fieldsOf(message["start"]);
  const streamId = nameIn(start, "streamId") ?? outer;
  if (streamId === null) return { type: "unsupported", reason: "has no streamId" };
  const format = formatIn(fieldsOf(start?.["mediaFormat"]), {
    usual: USUAL,
    linear: "s16le",
    linearRatesHz: [8_000, 16_000],
    companded: ["mulaw"],
  });
  if (typeof format === "string") return { type: "unsupported", reason: format };
  const carrierCallId = nameIn(start, "callId");
  return { type: "started", start: { streamId, carrierCallId, input: format, output: format } };
}

const decode = decoderOf({
  streamId: ["streamId"],
  start: started,
  others: { playedStream: markEvent, playFailed: failed, error: failed },
});

function messageOf(command: CarrierCommand, { streamId, output }: StreamStart): Fields {
  switch (command.type) {
    case "audio": {
      const contentType = output.encoding === "mulaw" ? "audio/x-mulaw" : "audio/x-l16";
      const media = { contentType, sampleRate: output.sampleRateHz, payload: toBase64(command.payload) };
      return { event: "playAudio", media };
    }
    case "mark":
      return { event: "checkpoint", streamId, name: command.name };
    case "clear":
      return { event: "clearAudio", streamId };
    case "digits":
  }
  return { event: "sendDTMF", dtmf: command.digits };
}

export const telephony3: CarrierCodec = {
  kind: "telephony3",
  messageBytes: null,
  answersAtOnce: false,
  outlivesStream: false,
  sendsDigits: true,
  decode,
  encode: (command, start) => JSON.stringify(messageOf(command, start)),
};
