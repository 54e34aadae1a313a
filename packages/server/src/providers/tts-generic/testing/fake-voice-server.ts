/**
 * A voice server on 127.0.0.1 as a user may have one, with each way to answer. It refuses what such servers refuse:
 * another method, a body that is not JSON, a missing key and an empty text.
 */

import { wavHeader } from "../../../media/wav.ts";
import {
  openLocalServer,
  type LocalHandler,
  type LocalRequest,
  type LocalServer,
} from "../../../ports/testing/local-server.ts";

export const RATE_HZ = 16_000;
export const KEY = "secret-key-of-the-voice";
const MS_PER_CHAR = 40;
/** Odd, so that samples and hexadecimal bytes are cut. */
const PIECE_BYTES = 1_601;

export const FORMS = ["pcm", "wav", "json", "json-hex", "json-wav", "lines", "lines-wav", "events"] as const;
export type Form = (typeof FORMS)[number];

/** A tone whose length says how long the text is. */
export function samplesFor(text: string): Int16Array {
  const length = Math.round((text.length * MS_PER_CHAR * RATE_HZ) / 1_000);
  return Int16Array.from({ length }, (_, index) =>
    Math.round(9_000 * Math.sin((index * 440 * 6.283) / RATE_HZ)),
  );
}

export function pcmFor(text: string): Buffer {
  const { buffer, byteLength } = samplesFor(text);
  return Buffer.from(buffer, 0, byteLength);
}

export function wavOf(pcm: Uint8Array, rateHz = RATE_HZ): Buffer {
  return Buffer.concat([wavHeader({ sampleRateHz: rateHz, channels: 1 }, pcm.length), pcm]);
}

export function piecesOf(bytes: Buffer, size = PIECE_BYTES): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/** The Content-Type and the whole body of an answer. */
export function answerIn(form: Form, text: string): readonly [string, Buffer | string] {
  const pcm = pcmFor(text);
  const line = (bytes: Buffer): string => JSON.stringify({ data: { audio: [bytes.toString("base64")] } });
  switch (form) {
    case "pcm":
      return [`audio/l16; rate=${RATE_HZ}`, pcm];
    case "wav":
      return ["audio/wav", wavOf(pcm)];
    case "json":
      return ["application/json", line(pcm)];
    case "json-hex":
      return ["application/json", JSON.stringify({ data: { audio: [pcm.toString("hex")] } })];
    case "json-wav":
      return ["application/json", line(wavOf(pcm))];
    case "lines":
      return [
        "application/jsonl",
        piecesOf(pcm)
          .map((piece) => `${line(piece)}\n`)
          .join(""),
      ];
    case "lines-wav":
      // Each a file: of whole samples.
      return [
        "application/x-ndjson",
        piecesOf(pcm, 1_600)
          .map((piece) => `${line(wavOf(piece))}\r\n`)
          .join(""),
      ];
    case "events":
      break;
  }
  const events = piecesOf(pcm).map((piece) => `event: audio\ndata: ${line(piece)}\n\n`);
  return ["text/event-stream", `: hello\n\n${events.join("")}data: [DONE]\n\n`];
}

/** The text of a request; null where the answer is a refusal, which was sent. */
export function checkedText(request: LocalRequest, response: Parameters<LocalHandler>[1]): string | null {
  const refuse = (status: number, message: string): null => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message } }));
    return null;
  };
  if (request.method !== "POST") return refuse(405, "method not allowed");
  if (request.headers.authorization !== `Bearer ${KEY}`) return refuse(401, `wrong key ${KEY}`);
  if (request.headers["content-type"] !== "application/json") return refuse(415, "not JSON");
  const body = JSON.parse(request.body) as { input?: { text?: unknown } };
  const text = body.input?.text;
  return typeof text === "string" && text !== "" ? text : refuse(422, "no text");
}

/** Answers in a form, in pieces that are cut anywhere. */
export function speaking(form: Form): LocalHandler {
  return (request, response) => {
    const text = checkedText(request, response);
    if (text === null) return;
    const [contentType, body] = answerIn(form, text);
    response.writeHead(200, { "content-type": contentType });
    for (const piece of piecesOf(Buffer.from(body), 777)) response.write(piece);
    response.end();
  };
}

export function openVoiceServer(handler: LocalHandler): Promise<LocalServer> {
  return openLocalServer(handler);
}
