/** A speech server with OpenAI's protocol that refuses what OpenAI refuses, for tests. */

import { z } from "zod";
import { openLocalServer, type LocalRequest, type LocalServer } from "../../../ports/testing/local-server.ts";
import { PATH, PCM, Refusal, SpeechRequest } from "../contract.ts";

export const SPEECH_KEY = "openai-key-1";

export const SPEECH_SERVER_FAULTS = [
  "429",
  "5xx",
  "hang",
  "hang in the middle",
  "garbage",
  "drop in the middle",
] as const;
export type SpeechServerFault = (typeof SPEECH_SERVER_FAULTS)[number];

export interface FakeSpeechServerOptions {
  /** Of one character. */
  readonly msPerChar?: number;
  /** Bytes that are sent at a time; odd, so that samples are cut. */
  readonly pieceBytes?: number;
  readonly fault?: SpeechServerFault | null;
}

export interface SpeechProblem {
  readonly status: number;
  readonly body: Refusal;
}

/** What the server refuses; null: it speaks. */
export function problemOf({ method, path, headers, body }: LocalRequest): SpeechProblem | null {
  if (method !== "POST" || path !== PATH) return problem(404, `no ${method} ${path}`);
  if (headers.authorization !== `Bearer ${SPEECH_KEY}`)
    return problem(401, "Incorrect API key provided", "invalid_api_key");
  if (headers["content-type"] !== "application/json") return problem(400, "the body is not JSON");
  const read = SpeechRequest.safeParse(JSON.parse(body));
  return read.success ? null : problem(400, z.prettifyError(read.error));
}

function problem(status: number, message: string, code: string | null = null): SpeechProblem {
  const body = Refusal.parse({ error: { message, type: "invalid_request_error", param: null, code } });
  return { status, body };
}

/** A level for as long as the text takes. */
export function speechFor(input: string, msPerChar: number): Buffer {
  const samples = new Int16Array((input.length * msPerChar * PCM.sampleRateHz) / 1_000).fill(9_000);
  return Buffer.from(samples.buffer);
}

export function openFakeSpeechServer({
  msPerChar = 40,
  pieceBytes = 8_001,
  fault = null,
}: FakeSpeechServerOptions = {}): Promise<LocalServer> {
  return openLocalServer(async (request, response) => {
    const found = problemOf(request);
    const refused = found ?? faultProblem(fault);
    if (refused !== null) {
      response.writeHead(refused.status, { "content-type": "application/json" });
      response.end(JSON.stringify(refused.body));
      return;
    }
    if (fault === "hang") return;
    if (fault === "garbage") {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>busy</html>");
      return;
    }
    const { input } = SpeechRequest.parse(JSON.parse(request.body));
    const whole = speechFor(input, msPerChar);
    const bytes = fault === null ? whole : whole.subarray(0, whole.length / 2);
    response.writeHead(200, { "content-type": PCM.contentType });
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const written = Promise.withResolvers<unknown>();
      response.write(bytes.subarray(at, at + pieceBytes), written.resolve);
      await written.promise;
    }
    if (fault === null) response.end();
    if (fault === "drop in the middle") response.destroy();
  });
}

function faultProblem(fault: SpeechServerFault | null): SpeechProblem | null {
  if (fault === "429") return problem(429, "Rate limit reached", "rate_limit_exceeded");
  return fault === "5xx" ? problem(503, "The engine is overloaded") : null;
}
