/**
 * The REST interfaces of the vendors that make voices, on 127.0.0.1. Each refuses what the vendor refuses: a wrong key, a
 * missing version, unknown or missing fields, and a file that is no recording.
 */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

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

const file = z
  .strictObject({
    file: z.string().regex(/\.(?:wav|mp3)$/),
    type: z.enum(["audio/wav", "audio/mpeg"]),
    bytes: z.instanceof(Uint8Array),
  })
  .refine(({ bytes }) => Buffer.from(bytes).equals(RECORDING));

function checked(schema: z.ZodType<Record<string, unknown>>, fields: unknown, status: number, error: object) {
  const read = schema.safeParse(fields);
  if (!read.success) throw new Refused(status, error);
  return read.data;
}

/** The names of Cartesia's languages. */
const CARTESIA_LANGUAGES = [
  "en",
  "fr",
  "de",
  "es",
  "pt",
  "zh",
  "ja",
  "hi",
  "it",
  "ko",
  "nl",
  "pl",
  "ru",
  "sv",
  "tr",
];

export const VENDORS = {
  elevenlabs: {
    makePath: "/v1/voices/add",
    voicePath: "/v1/voices/",
    check(headers) {
      if (headers["xi-api-key"] !== KEY)
        throw new Refused(401, { detail: { status: "invalid_api_key", message: `Invalid API key ${KEY}` } });
    },
    async make(request) {
      const schema = z.strictObject({
        name: z.string().min(1),
        files: file,
        description: z.string().optional(),
        labels: z.string().optional(),
        remove_background_noise: z.string().optional(),
      });
      const refusal = { detail: [{ loc: ["body", "files"], msg: "Field required", type: "missing" }] };
      const fields = checked(schema, await formOf(request), 422, refusal);
      return { fields, answer: (id) => ({ voice_id: id, requires_verification: false }) };
    },
  },
  cartesia: {
    makePath: "/voices/clone",
    voicePath: "/voices/",
    check(headers) {
      if (headers["x-api-key"] !== KEY) throw new Refused(401, `Invalid API key ${KEY}`);
      if (headers["cartesia-version"] !== "2025-11-04")
        throw new Refused(400, "Cartesia-Version is required");
    },
    async make(request) {
      const schema = z.strictObject({
        clip: file,
        name: z.string().min(1),
        description: z.string().optional(),
        language: z.enum(CARTESIA_LANGUAGES),
      });
      const refusal = { title: "Invalid", message: "unsupported language", error_code: "invalid" };
      const fields = checked(schema, await formOf(request), 400, refusal);
      return { fields, answer: (id) => ({ id, user_id: "u", is_public: false, name: "n", language: "en" }) };
    },
  },
  lmnt: {
    makePath: "/v1/ai/voice",
    voicePath: "/v1/ai/voice/",
    check(headers) {
      if (headers["x-api-key"] !== KEY)
        throw new Refused(401, { error: { type: "authentication_error", message: `bad key ${KEY}` } });
      if (headers["lmnt-version"] !== "1.1") throw new Refused(400, { error: "lmnt-version is required" });
    },
    async make(request) {
      const schema = z.strictObject({
        files: file,
        name: z.string().min(1),
        enhance: z.enum(["true", "false"]),
        description: z.string().optional(),
        metadata: z.string().optional(),
      });
      const refusal = { error: { type: "invalid_request_error", message: "bad form" } };
      const fields = checked(schema, await formOf(request), 400, refusal);
      return { fields, answer: (id) => ({ id, name: "n", owner: "me", state: "ready", type: "instant" }) };
    },
  },
  inworld: {
    makePath: "/voices/v1/voices:clone",
    voicePath: "/voices/v1/voices/",
    check(headers) {
      if (headers.authorization !== `Basic ${KEY}`)
        throw new Refused(401, { code: 16, message: `unauthenticated ${KEY}`, details: [] });
    },
    async make({ headers, body }) {
      if (headers["content-type"] !== "application/json") throw new Refused(415, "not JSON");
      const schema = z.strictObject({
        displayName: z.string().min(1),
        langCode: z.string().regex(/^(?:AUTO|[A-Z]{2}_[A-Z]{2})$/),
        description: z.string().optional(),
        voiceSamples: z
          .array(z.strictObject({ audioData: z.base64() }))
          .length(1)
          .refine(([sample]) => Buffer.from(sample?.audioData ?? "", "base64").equals(RECORDING)),
      });
      const fields = checked(schema, JSON.parse(body.toString()), 400, { code: 3, message: "bad request" });
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
  const reached = Promise.withResolvers<void>();

  const answerTo = async (request: VendorRequest): Promise<Answer> => {
    vendor.check(request.headers);
    if (request.method === "POST" && request.path === vendor.makePath) {
      if (fault !== null && fault !== "hang") return fault;
      const { fields, answer } = await vendor.make(request);
      const id = `voice-${String(made.length + 1)}`;
      made.push(fields);
      voices.add(id);
      return { status: 200, body: answer(id) };
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
    reached: reached.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
