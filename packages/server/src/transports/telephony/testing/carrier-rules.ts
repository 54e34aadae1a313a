/**
 * The four carriers as their documents describe them: the messages that they send, and what they accept. Strict, as
 * they are: every field is checked, and a surplus one is refused. Written without the codecs that it tests.
 */

import type { CarrierKind } from "@parley/schema";
import { bytesPerSample, type AudioFormat } from "../../../media/audio-format.ts";
import {
  acceptCommon,
  exactly,
  parsed,
  payloadOf,
  RuleBroken,
  same,
  textOf,
  type Command,
  type FakeStream,
  type Json,
} from "./rule-checks.ts";

export interface CarrierRules {
  readonly kind: CarrierKind;
  readonly input: AudioFormat;
  readonly output: AudioFormat;
  /** Audio of one message of the carrier. */
  readonly frameMs: number;
  /** Marks in a cleared buffer come back at once. */
  readonly echoesCleared: boolean;
  /** A message of audio that has begun to play is played to its end. */
  readonly finishesBegun: boolean;
  /** Audio that the carrier holds; more is dropped. */
  readonly longestBufferMs: number;
  /** `sequence` counts the messages of the stream from 1. */
  begin(stream: FakeStream): readonly Json[];
  media(stream: FakeStream, sequence: number, chunk: number, payload: string): Json;
  mark(stream: FakeStream, sequence: number, name: string): Json;
  digit(stream: FakeStream, sequence: number, key: string): Json;
  stop(stream: FakeStream, sequence: number): Json;
  /** Sent when the buffer was cleared; null: nothing. */
  cleared(stream: FakeStream, sequence: number): Json | null;
  /** @throws RuleBroken */
  accept(text: string, stream: FakeStream): Command;
}

const MULAW: AudioFormat = { encoding: "mulaw", sampleRateHz: 8_000 };

const telephony1: CarrierRules = {
  kind: "telephony1",
  input: MULAW,
  output: MULAW,
  frameMs: 20,
  echoesCleared: true,
  finishesBegun: false,
  longestBufferMs: 600_000,
  begin: ({ streamId, callId }) => [
    { event: "connected", protocol: "Call", version: "1.0.0" },
    {
      event: "start",
      sequenceNumber: "1",
      streamSid: streamId,
      start: {
        streamSid: streamId,
        accountSid: "ACbb22",
        callSid: callId,
        tracks: ["inbound"],
        customParameters: { callRef: "c-17" },
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
      },
    },
  ],
  media: ({ streamId }, sequence, chunk, payload) => ({
    event: "media",
    sequenceNumber: String(sequence),
    streamSid: streamId,
    media: { track: "inbound", chunk: String(chunk), timestamp: String(chunk * 20), payload },
  }),
  mark: ({ streamId }, sequence, name) => ({
    event: "mark",
    sequenceNumber: String(sequence),
    streamSid: streamId,
    mark: { name },
  }),
  digit: ({ streamId }, sequence, digit) => ({
    event: "dtmf",
    streamSid: streamId,
    sequenceNumber: String(sequence),
    dtmf: { track: "inbound_track", digit },
  }),
  stop: ({ streamId, callId }, sequence) => ({
    event: "stop",
    sequenceNumber: String(sequence),
    streamSid: streamId,
    stop: { accountSid: "ACbb22", callSid: callId },
  }),
  cleared: () => null,
  accept: (text, stream) => acceptCommon(text, stream, "streamSid"),
};

const telephony2: CarrierRules = {
  kind: "telephony2",
  // As in Europe: the line has A-law, and mu-law is what the directive says of what we send.
  input: { encoding: "alaw", sampleRateHz: 8_000 },
  output: MULAW,
  frameMs: 20,
  echoesCleared: true,
  finishesBegun: false,
  longestBufferMs: 600_000,
  begin: ({ streamId, callId, input }) => [
    { event: "connected", version: "1.0.0" },
    {
      event: "start",
      sequence_number: "1",
      stream_id: streamId,
      start: {
        user_id: "u-1",
        call_control_id: callId,
        from: "+15550100",
        to: "+15550101",
        tags: [],
        client_state: null,
        custom_parameters: {},
        media_format: {
          encoding: input.encoding === "alaw" ? "PCMA" : input.encoding === "mulaw" ? "PCMU" : "L16",
          sample_rate: input.sampleRateHz,
          channels: 1,
        },
      },
    },
  ],
  media: ({ streamId }, sequence, chunk, payload) => ({
    event: "media",
    sequence_number: String(sequence),
    stream_id: streamId,
    media: { track: "inbound", chunk: String(chunk), timestamp: String(chunk * 20), payload },
  }),
  mark: ({ streamId }, sequence, name) => ({
    event: "mark",
    sequence_number: String(sequence),
    stream_id: streamId,
    mark: { name },
  }),
  digit: ({ streamId }, sequence, digit) => ({
    event: "dtmf",
    stream_id: streamId,
    occurred_at: "2026-01-02T03:04:05.000Z",
    sequence_number: String(sequence),
    dtmf: { digit },
  }),
  stop: ({ streamId, callId }, sequence) => ({
    event: "stop",
    sequence_number: String(sequence),
    stream_id: streamId,
    stop: { user_id: "u-1", call_control_id: callId },
  }),
  cleared: () => null,
  accept: (text, stream) => {
    const command = acceptCommon(text, stream, null);
    if (command.type !== "audio") return command;
    const ms =
      (command.payload.length * 1_000) / bytesPerSample(stream.output.encoding) / stream.output.sampleRateHz;
    if (ms < 20 || ms > 30_000 || ms % 20 !== 0) throw new RuleBroken(`audio of ${ms} ms`);
    return command;
  },
};

const telephony3: CarrierRules = {
  kind: "telephony3",
  input: { encoding: "s16le", sampleRateHz: 16_000 },
  output: { encoding: "s16le", sampleRateHz: 16_000 },
  frameMs: 20,
  echoesCleared: false,
  finishesBegun: false,
  longestBufferMs: 600_000,
  begin: ({ streamId, callId, input }) => [
    {
      event: "start",
      sequenceNumber: 0,
      start: {
        callId,
        streamId,
        accountId: "MA1",
        tracks: ["inbound"],
        mediaFormat: {
          encoding: input.encoding === "mulaw" ? "audio/x-mulaw" : "audio/x-l16",
          sampleRate: input.sampleRateHz,
        },
      },
      extra_headers: "callRef=c17",
    },
  ],
  media: ({ streamId }, sequence, chunk, payload) => ({
    event: "media",
    sequenceNumber: sequence,
    streamId,
    media: { track: "inbound", timestamp: String(1_760_000_000_000 + chunk * 20), chunk, payload },
    extra_headers: "callRef=c17",
  }),
  mark: ({ streamId }, sequence, name) => ({
    event: "playedStream",
    sequenceNumber: sequence,
    streamId,
    name,
  }),
  digit: ({ streamId }, sequence, digit) => ({
    event: "dtmf",
    sequenceNumber: sequence,
    streamId,
    dtmf: { track: "inbound", digit, timestamp: "1760000001123" },
    extra_headers: "callRef=c17",
  }),
  stop: ({ streamId }, sequence) => ({ event: "stop", sequenceNumber: sequence, streamId }),
  cleared: ({ streamId }, sequence) => ({ event: "clearedAudio", sequenceNumber: sequence, streamId }),
  accept: (text, stream) => {
    const message = parsed(text);
    switch (message["event"]) {
      case "playAudio": {
        const { media } = exactly(message, ["event", "media"], "playAudio");
        const fields = exactly(media, ["contentType", "sampleRate", "payload"], "media");
        const isMulaw = stream.output.encoding === "mulaw";
        same(fields["contentType"], isMulaw ? "audio/x-mulaw" : "audio/x-l16", "contentType");
        same(fields["sampleRate"], stream.output.sampleRateHz, "sampleRate");
        return { type: "audio", payload: payloadOf(fields["payload"], stream) };
      }
      case "checkpoint": {
        const { streamId, name } = exactly(message, ["event", "streamId", "name"], "checkpoint");
        same(streamId, stream.streamId, "streamId");
        return { type: "mark", name: textOf(name, "name") };
      }
      case "clearAudio":
        same(exactly(message, ["event", "streamId"], "clearAudio")["streamId"], stream.streamId, "streamId");
        return { type: "clear" };
      case "sendDTMF": {
        const digits = textOf(exactly(message, ["event", "dtmf"], "sendDTMF")["dtmf"], "dtmf");
        if (!/^[0-9*#A-D]+$/.test(digits)) throw new RuleBroken(`the keys ${digits}`);
        return { type: "digits", digits };
      }
      default:
        throw new RuleBroken(`the event ${JSON.stringify(message["event"])}`);
    }
  },
};

const telephony4: CarrierRules = {
  kind: "telephony4",
  input: { encoding: "s16le", sampleRateHz: 8_000 },
  output: { encoding: "s16le", sampleRateHz: 8_000 },
  frameMs: 100,
  echoesCleared: true,
  finishesBegun: true,
  longestBufferMs: 1_000,
  begin: ({ streamId, callId, input }) => [
    { event: "connected" },
    {
      event: "start",
      sequence_number: "1",
      stream_sid: streamId,
      start: {
        stream_sid: streamId,
        call_sid: callId,
        account_sid: "acct",
        from: "080000",
        to: "080001",
        custom_parameters: { ref: "17" },
        media_format: { encoding: "raw", sample_rate: String(input.sampleRateHz), bit_rate: "128kbps" },
      },
    },
  ],
  media: ({ streamId }, sequence, chunk, payload) => ({
    event: "media",
    sequence_number: sequence,
    stream_sid: streamId,
    media: { chunk, timestamp: String(chunk * 100), payload },
  }),
  mark: ({ streamId }, sequence, name) => ({
    event: "mark",
    sequence_number: sequence,
    stream_sid: streamId,
    mark: { name },
  }),
  digit: ({ streamId }, sequence, digit) => ({
    event: "dtmf",
    sequence_number: sequence,
    stream_sid: streamId,
    dtmf: { digit, duration: "120" },
  }),
  stop: ({ streamId, callId }, sequence) => ({
    event: "stop",
    sequence_number: sequence,
    stream_sid: streamId,
    stop: { call_sid: callId, account_sid: "acct", reason: "callended" },
  }),
  cleared: () => null,
  accept: (text, stream) => {
    const command = acceptCommon(text, stream, "stream_sid");
    if (command.type !== "audio") return command;
    const { length } = command.payload;
    if (length < 3_200 || length > 100_000 || length % 320 !== 0)
      throw new RuleBroken(`audio of ${length} bytes`);
    return command;
  },
};

export const CARRIER_RULES: Readonly<Record<CarrierKind, CarrierRules>> = {
  telephony1,
  telephony2,
  telephony3,
  telephony4,
};
