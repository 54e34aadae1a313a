/**
 * The REST interfaces of the vendors that make voices, on 127.0.0.1. Each refuses what the vendor refuses: a wrong key, a
 * missing version, unknown or missing fields, and a file that is no recording.
 */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { z } from "zod";
import { CARTESIA, ELEVENLABS, INWORLD, LMNT } from "../contract.ts";

export const KEY = "key-of-the-vendor-0123";
export const RECORDING = Buffer.from("RIFF----WAVEfmt a recording \u00ff\u0000", "latin1");

export interface VendorRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  /** A text is sent as it is. */
  readonly body: unknown;
}

export interface FakeVendor {
  readonly baseUrl: string;
  /** Voices that were made and not removed. */
  readonly voices: ReadonlySet<string>;
  /** The fields of each form or document, files by their bytes. */
  readonly made: readonly Readonly<Record<string, unknown>>[];
  /** What was answered to them. */
  readonly answers: readonly unknown[];
  /** Resolves when a request has come. */
  readonly reached: Promise<void>;
  close(): Promise<void>;
}

type Make = (request: VendorRequest) => Promise<{
  readonly fields: Readonly<Record<string, unknown>>;
  readonly answer: (id: string) => unknown;
}>;

class Refused extends Error {
  readonly answer: Answer;

  constructor(status: number, body: unknown) {
    super(String(status));
    this.answer = { status, body };
  }
}

export interface Vendor {
  readonly makePath: string;
  /** The path of a voice without its id. */
  readonly voicePath: string;
  /** Throws where the key or the version is wrong. */
  readonly check: (headers: IncomingHttpHeaders) => void;
  readonly make: Make;
  /** What a form or document must be, and what is answered. */
  readonly Request: z.ZodType<Record<string, unknown>>;
  readonly Answer: z.ZodType;
}

async function formOf({ headers, body }: VendorRequest): Promise<Record<string, unknown>> {
  const contentType = headers["content-type"] ?? "";
  if (!contentType.startsWith("multipart/form-data; boundary=")) throw new Refused(415, "not a form");
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": contentType },
  }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form.entries()) {
    if (name in fields) throw new Refused(400, `${name} twice`);
    fields[name] =
      typeof value === "string"
        ? value
        : { file: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  return fields;
}

function checked(schema: z.ZodType<Record<string, unknown>>, fields: unknown, status: number, error: object) {
  const read = schema.safeParse(fields);
  if (!read.success) throw new Refused(status, error);
  return read.data;
}

export const VENDORS = {
  elevenlabs: {
    ...ELEVENLABS,
    check(headers) {
      if (headers[ELEVENLABS.keyHeader] !== KEY)
        throw new Refused(401, { detail: { status: "invalid_api_key", message: `Invalid API key ${KEY}` } });
    },
    async make(request) {
      const refusal = { detail: [{ loc: ["body", "files"], msg: "Field required", type: "missing" }] };
      const fields = checked(ELEVENLABS.Request, await formOf(request), 422, refusal);
      return { fields, answer: (id) => ({ voice_id: id, requires_verification: false }) };
    },
  },
  cartesia: {
    ...CARTESIA,
    check(headers) {
      if (headers["x-api-key"] !== KEY) throw new Refused(401, `Invalid API key ${KEY}`);
      if (headers["cartesia-version"] !== CARTESIA.version)
        throw new Refused(400, "Cartesia-Version is required");
    },
    async make(request) {
      const refusal = { title: "Invalid", message: "unsupported language", error_code: "invalid" };
      const fields = checked(CARTESIA.Request, await formOf(request), 400, refusal);
      return { fields, answer: (id) => ({ id, user_id: "u", is_public: false, name: "n", language: "en" }) };
    },
  },
  lmnt: {
    ...LMNT,
    check(headers) {
      if (headers["x-api-key"] !== KEY)
        throw new Refused(401, { error: { type: "authentication_error", message: `bad key ${KEY}` } });
      if (headers["lmnt-version"] !== LMNT.version)
        throw new Refused(400, { error: "lmnt-version is required" });
    },
    async make(request) {
      const refusal = { error: { type: "invalid_request_error", message: "bad form" } };
      const fields = checked(LMNT.Request, await formOf(request), 400, refusal);
      return { fields, answer: (id) => ({ id, name: "n", owner: "me", state: "ready", type: "instant" }) };
    },
  },
  inworld: {
    ...INWORLD,
    check(headers) {
      if (headers.authorization !== `Basic ${KEY}`)
        throw new Refused(401, { code: 16, message: `unauthenticated ${KEY}`, details: [] });
    },
    async make({ headers, body }) {
      if (headers["content-type"] !== "application/json") throw new Refused(415, "not JSON");
      const fields = checked(INWORLD.Request, JSON.parse(body.toString()), 400, {
        code: 3,
        message: "bad request",
      });
      return { fields, answer: (voiceId) => ({ voice: { voiceId }, audioSamplesValidated: [{}] }) };
    },
  },
} as const satisfies Record<string, Vendor>;

/** @param fault what is answered instead of making a voice; `hang`: nothing */
export async function openFakeVendor(
  vendor: Vendor,
  fault: Answer | "hang" | null = null,
): Promise<FakeVendor> {
  const voices = new Set<string>();
  const made: Readonly<Record<string, unknown>>[] = [];
  const answers: unknown[] = [];
  const reached = Promise.withResolvers<void>();

  const answerTo = async (request: VendorRequest): Promise<Answer> => {
    vendor.check(request.headers);
    if (request.method === "POST" && request.path === vendor.makePath) {
      if (fault !== null && fault !== "hang") return fault;
      const { fields, answer } = await vendor.make(request);
      const id = `voice-${String(made.length + 1)}`;
      made.push(fields);
      voices.add(id);
      const body = vendor.Answer.parse(answer(id));
      answers.push(body);
      return { status: 200, body };
    }
    if (request.method === "DELETE" && request.path.startsWith(vendor.voicePath)) {
      const isGone = !voices.delete(request.path.slice(vendor.voicePath.length));
      return isGone ? { status: 404, body: { message: "no such voice" } } : { status: 200, body: "" };
    }
    return { status: 405, body: "no such method" };
  };

  const server = createServer((incoming, response) => {
    const serve = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method = "", url: path = "", headers } = incoming;
      reached.resolve();
      if (fault === "hang") return;
      const { status, body } = await answerTo({ method, path, headers, body: Buffer.concat(chunks) }).catch(
        (error: unknown) => {
          if (error instanceof Refused) return error.answer;
          throw error;
        },
      );
      response.writeHead(status, {
        "content-type": typeof body === "string" ? "text/plain" : "application/json",
      });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    serve().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}`,
    voices,
    made,
    answers,
    reached: reached.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
