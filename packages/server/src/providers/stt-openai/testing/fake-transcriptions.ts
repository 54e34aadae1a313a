/** A server with OpenAI's transcription of files that refuses what OpenAI refuses, for tests. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { parseWavHeader } from "../../../media/wav.ts";
import { PATH, Refusal, TranscriptionAnswer, TranscriptionForm } from "../contract.ts";

export const TRANSCRIPTIONS_KEY = "sk-key";

export type TranscriptionFault = "429" | "5xx" | "hang" | "garbage" | "drop";

export interface FakeTranscriptionsOptions {
  /** What is understood of the samples. */
  readonly says: (samples: Int16Array) => string;
  readonly fault?: TranscriptionFault | null;
}

export interface FakeTranscriptions {
  /** With the version. */
  readonly baseUrl: string;
  /** Fields of all forms that came, also of those that were refused. */
  readonly forms: readonly Readonly<Record<string, unknown>>[];
  /** Resolves when a request has come. */
  readonly reached: Promise<void>;
  close(): Promise<void>;
}

/** Why a form is refused; null: it is taken. */
export function formProblem(fields: unknown): string | null {
  const read = TranscriptionForm.safeParse(fields);
  if (!read.success) return z.prettifyError(read.error);
  const header = parseWavHeader(read.data.file.bytes);
  return header === null || header.sampleRateHz !== 16_000 || header.channels !== 1
    ? "Audio file might be corrupted"
    : null;
}

export async function openFakeTranscriptions({
  says,
  fault = null,
}: FakeTranscriptionsOptions): Promise<FakeTranscriptions> {
  const forms: Readonly<Record<string, unknown>>[] = [];
  const reached = Promise.withResolvers<void>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    reached.resolve();
    if (request.method !== "POST" || request.url !== PATH) return refuse(response, 404, "no such path");
    if (request.headers.authorization !== `Bearer ${TRANSCRIPTIONS_KEY}`)
      return refuse(response, 401, "Incorrect API key provided");
    const fields = await fieldsOf(request, Buffer.concat(chunks));
    forms.push(fields);
    const problem = formProblem(fields);
    if (problem !== null) return refuse(response, 400, problem);
    if (fault === "429" || fault === "5xx") return refuse(response, fault === "429" ? 429 : 503, "not now");
    if (fault === "hang") return;
    answer(response, says(samplesOf(TranscriptionForm.parse(fields))), fault);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  // On a busy machine a client may use a connection again in the moment in which the server would close it.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    forms,
    reached: reached.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function fieldsOf({ headers }: IncomingMessage, body: Buffer): Promise<Record<string, unknown>> {
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": headers["content-type"] ?? "" },
  }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form.entries())
    fields[name] =
      typeof value === "string"
        ? value
        : { name: value.name, type: value.type, bytes: new Uint8Array(await value.arrayBuffer()) };
  return fields;
}

/** After the header of 44 bytes. */
function samplesOf({ file: { bytes } }: TranscriptionForm): Int16Array {
  return new Int16Array(bytes.slice(44).buffer);
}

function answer(response: ServerResponse, said: string, fault: TranscriptionFault | null): void {
  const text = JSON.stringify(TranscriptionAnswer.parse({ text: said }));
  const type = { "content-type": "application/json" };
  if (fault === "garbage") response.writeHead(200, { "content-type": "text/html" }).end("<html>busy</html>");
  else if (fault === "drop") {
    response.writeHead(200, { ...type, "content-length": text.length });
    response.write(text.slice(0, 5), () => response.destroy());
  } else response.writeHead(200, type).end(text);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const body = Refusal.parse({ error: { message, type: "invalid_request_error", param: null, code: null } });
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
