import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  describeSttConformance,
  pushAll,
  SttRecord,
  type SttAnswer,
} from "../../ports/testing/stt-conformance.ts";
import { parseWavHeader, WAV_HEADER_BYTES } from "../../media/wav.ts";
import { refusalOf } from "./answer.ts";
import { describeOpenAiStt, openOpenAiStt, type OpenAiSttOptions } from "./stt-openai.ts";

type Respond = (
  request: { path: string; form: FormData; headers: IncomingMessage["headers"] },
  response: ServerResponse,
) => unknown;

const servers: Server[] = [];

async function bodyOf(request: IncomingMessage): Promise<FormData> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  return new Response(Buffer.concat(chunks), { headers }).formData();
}

/** A speech server on the loopback; its base address. */
async function serve(respond: Respond): Promise<string> {
  const server = createServer((request, response) => {
    bodyOf(request).then(
      (form) => respond({ path: request.url ?? "", form, headers: request.headers }, response),
      () => response.destroy(),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function say(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}

const half = new Int16Array(8_000);
const spoken = [
  { samples: half.slice().fill(1), text: "One." },
  { samples: half.slice().fill(2), text: "Two, please." },
] as const;

/** The first sample decides, so that what arrives is what was pushed. */
async function transcript(form: FormData): Promise<string> {
  const file = form.get("file") as File;
  const bytes = new DataView(await file.arrayBuffer());
  const sample = bytes.getInt16(44, true);
  return JSON.stringify({ text: `${spoken.find(({ samples }) => samples[0] === sample)?.text ?? ""}\n` });
}

const open = async (respond: Respond, options: Partial<OpenAiSttOptions> = {}) =>
  openOpenAiStt({ baseUrl: await serve(respond), apiKey: null, model: "whisper-1", ...options });

describeSttConformance("an OpenAI-compatible server", {
  open: () => open(async ({ form }, response) => say(response, await transcript(form))),
  spoken,
  unintelligible: half.slice().fill(3),
  openHanging: async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    return { engine: await open(() => resolve()), reached };
  },
  openFailing: () => open((_request, response) => say(response, "{}", 500)),
});

async function ask(
  respond: Respond,
  options: Partial<OpenAiSttOptions> = {},
): Promise<SttAnswer | undefined> {
  const engine = await open(respond, options);
  const record = new SttRecord();
  const stream = engine.open({ language: "pt-BR" }, record);
  stream.open(1);
  pushAll(stream, 1, half);
  stream.request(1, 0);
  const [answer] = await record.answered(1);
  await engine.close();
  return answer;
}

describe("a request", () => {
  it("carries the audio as WAV, the model, the language's code and the key", async () => {
    let seen: Record<string, unknown> = {};
    await ask(
      async ({ path, form, headers }, response) => {
        const file = form.get("file") as File;
        const bytes = Buffer.from(await file.arrayBuffer());
        seen = {
          path,
          key: headers.authorization,
          rest: [form.get("model"), form.get("language"), form.get("response_format"), file.name, file.type],
          wav: [bytes.toString("latin1", 0, 4), bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.length],
        };
        say(response, '{"text":"olá"}');
      },
      { apiKey: "sk-secret" },
    );
    expect(seen).toEqual({
      path: "/v1/audio/transcriptions",
      key: "Bearer sk-secret",
      rest: ["whisper-1", "pt", "json", "utterance.wav", "audio/wav"],
      wav: ["RIFF", 1, 16_000, 44 + 16_000],
    });
  });

  it("carries exactly the samples that were pushed, all of them again for each revision", async () => {
    const files: Buffer[] = [];
    const engine = await open(async ({ form }, response) => {
      files.push(Buffer.from(await (form.get("file") as File).arrayBuffer()));
      say(response, '{"text":"hm"}');
    });
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    const samples = Int16Array.from({ length: 20_011 }, (_, index) => ((index * 7_919) % 65_536) - 32_768);
    stream.open(1);
    pushAll(stream, 1, samples.subarray(0, 5_001));
    stream.request(1, 0);
    await record.answered(1);
    pushAll(stream, 1, samples.subarray(5_001));
    stream.request(1, 1);
    await record.answered(2);
    await engine.close();
    for (const [index, count] of [5_001, 20_011].entries()) {
      const file = files[index] ?? Buffer.alloc(0);
      expect(parseWavHeader(file)).toEqual({ sampleRateHz: 16_000, channels: 1, dataBytes: 2 * count });
      expect(file.readUInt32LE(4)).toBe(file.length - 8);
      expect(file.subarray(WAV_HEADER_BYTES).equals(Buffer.from(samples.buffer, 0, 2 * count))).toBe(true);
    }
  });

  it.each([
    [null, null, 0],
    ["en-GB", "en", 0],
    ["zh-Hant-TW", "zh", 0],
    ["eng", "en", 0],
    ["nb-NO", "no", 0],
    ["yue", "yue", 0],
    ["und", null, 1],
    ["", null, 1],
    ["x-klingon", null, 1],
    ["no such language", null, 1],
  ])("for the language %j carries %j, with %d warnings", async (language, code, warnings) => {
    let seen: unknown;
    const engine = await open(({ form }, response) => {
      seen = form.get("language");
      say(response, '{"text":"hm"}');
    });
    const record = new SttRecord();
    const stream = engine.open({ language }, record);
    stream.open(1);
    pushAll(stream, 1, half);
    stream.request(1, 0);
    await record.answered(1);
    await engine.close();
    expect(seen).toBe(code);
    expect(record.warnings).toHaveLength(warnings);
  });

  it("that newer ones overtook is aborted at the server, and the newest is answered", async () => {
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
    const arrivals = [0, 1, 2].map(() => Promise.withResolvers<void>());
    let count = 0;
    const engine = await open((_request, response) => {
      arrivals[count]?.resolve();
      count += 1;
      if (count === 1) response.on("close", leave);
      if (count === 3) say(response, '{"text":"the whole"}');
    });
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    stream.open(1);
    for (const [revision, { promise: arrived }] of arrivals.entries()) {
      pushAll(stream, 1, half);
      stream.request(1, revision);
      await arrived;
    }
    await gone;
    expect(await record.answered(2)).toEqual([
      {
        type: "failed",
        utteranceId: 1,
        revision: 0,
        error: "overtaken by newer requests for the same utterance",
      },
      { type: "final", utteranceId: 1, revision: 2, text: "the whole", understood: true },
    ]);
    await engine.close();
  });

  it("goes to the same place with a slash at the end, and sends no key where there is none", async () => {
    let seen: unknown;
    const baseUrl = await serve(({ path, headers }, response) => {
      seen = [path, headers.authorization];
      say(response, '{"text":"hi"}');
    });
    await ask(() => undefined, { baseUrl: `${baseUrl}//` });
    expect(seen).toEqual(["/v1/audio/transcriptions", undefined]);
  });

  it("that is abandoned is aborted at the server", async () => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<string>();
    const engine = await open((_request, response) => {
      response.on("close", () => {
        abort("closed");
      });
      reach();
    });
    const stream = engine.open({ language: null }, new SttRecord());
    stream.open(1);
    pushAll(stream, 1, half);
    stream.request(1, 0);
    await reached;
    stream.abandon(1);
    expect(await aborted).toBe("closed");
    await engine.close();
  });
});

describe("an answer", () => {
  it.each([
    ["that is not JSON", "hello", "not a transcript"],
    ["without a text", '{"task":"transcribe"}', "not a transcript"],
    ["whose text is no string", '{"text":{"a":1}}', "not a transcript"],
    ["that is empty", "", "not a transcript"],
    ["that is a page", "<html>hello</html>", "not a transcript"],
    ["that is an error nevertheless", '{"error":"out of memory"}', "not a transcript: out of memory"],
    ["with the key in its error", '{"error":{"message":"no sk-secret"}}', "not a transcript: no [key]"],
    ["that is huge", `{"text":"${"a ".repeat(300_000)}"}`, "longer than"],
  ])("%s fails the request", async (_name, body, error) => {
    const answer = await ask((_request, response) => say(response, body), { apiKey: "sk-secret" });
    expect(answer).toMatchObject({ type: "failed", error: expect.stringContaining(error) as string });
  });

  it.each([
    ["a plain page", 500, "<html>oops</html>", "the speech server answered 500"],
    [
      "its reason",
      400,
      '{"error":{"message":"audio is\\ntoo odd"}}',
      "the speech server answered 400: audio is too odd",
    ],
    ["its reason as text", 429, '{"error":"slow down"}', "the speech server answered 429: slow down"],
    [
      "its reason as detail",
      422,
      '{"detail":"no such model"}',
      "the speech server answered 422: no such model",
    ],
    ["a long page", 502, "<p>".repeat(200_000), "the speech server answered 502"],
    ["the key in it", 400, '{"error":"bad sk-secret"}', "the speech server answered 400: bad [key]"],
    [
      "part of the key",
      401,
      '{"error":"bad key sk-s***t"}',
      "the speech server does not accept the API key (401)",
    ],
  ])("of refusal with %s is reported in a sentence", async (_name, status, body, error) => {
    const answer = await ask((_request, response) => say(response, body, status), { apiKey: "sk-secret" });
    expect(answer).toEqual({ type: "failed", utteranceId: 1, revision: 0, error });
  });

  it.each([
    [401, true],
    [403, true],
    [404, true],
    [429, false],
    [500, false],
  ])("of HTTP %i is a permanent failure: %s", async (status, isPermanent) => {
    const response = new Response('{"error":"no"}', { status });
    expect(await refusalOf(response, null)).toMatchObject({ isPermanent, type: String(status) });
  });

  it("of a model is a permanent failure where the server says it by a code", async () => {
    const body = '{"error":{"message":"no","code":"model_not_found"}}';
    const response = new Response(body, { status: 400 });
    expect(await refusalOf(response, null)).toMatchObject({ isPermanent: true });
  });

  it.each(["[BLANK_AUDIO]", " (silence)\n", "...", ""])("of %j is not understood", async (text) => {
    const answer = await ask((_request, response) => say(response, JSON.stringify({ text })));
    expect(answer).toEqual({ type: "final", utteranceId: 1, revision: 0, text: "", understood: false });
  });

  it("of refusal that breaks off still tells its status", async () => {
    const answer = await ask((_request, response) => {
      response.writeHead(503, { "content-length": "100" });
      response.write('{"error":', () => response.destroy());
    });
    expect(answer).toMatchObject({ type: "failed", error: "the speech server answered 503" });
  });

  it("that does not arrive, or never ends, fails after the limit", async () => {
    const error = "the speech server did not answer within 200 ms";
    expect(await ask(() => undefined, { timeoutMs: 200 })).toMatchObject({ type: "failed", error });
    const dripping = await ask(
      (_request, response) => {
        const drip = setInterval(() => response.write(" "), 20);
        response.on("close", () => {
          clearInterval(drip);
        });
      },
      { timeoutMs: 200 },
    );
    expect(dripping).toMatchObject({ type: "failed", error });
  });

  it("that is slow but within the limit is taken", async () => {
    const answer = await ask((_request, response) => {
      response.write('{"text":');
      setTimeout(() => response.end('"at last"}'), 100);
    });
    expect(answer).toMatchObject({ type: "final", text: "at last" });
  });

  it("that breaks off in the middle fails", async () => {
    const answer = await ask((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"text":"half', () => response.destroy());
    });
    expect(answer).toMatchObject({
      type: "failed",
      error: "the speech server closed the connection early",
    });
  });

  it("that sends elsewhere is not followed", async () => {
    let visits = 0;
    const elsewhere = await serve((_request, response) => {
      visits += 1;
      say(response, '{"text":"stolen"}');
    });
    const answer = await ask((_request, response) => {
      response.writeHead(307, { location: elsewhere }).end();
    });
    expect(answer).toMatchObject({ type: "failed" });
    expect(visits).toBe(0);
  });

  it("of nobody there fails", async () => {
    const baseUrl = await serve(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const answer = await ask(() => undefined, { baseUrl });
    expect(answer).toMatchObject({
      type: "failed",
      error: expect.stringContaining("ECONNREFUSED") as string,
    });
  });
});

describe("settings", () => {
  it.each(["", "localhost:8000/v1", "ftp://example.org/v1"])("refuse the address %j", (baseUrl) => {
    expect(() => openOpenAiStt({ baseUrl, apiKey: null, model: "m" })).toThrow("base URL");
  });

  it("refuse an address with a password and a key that no header carries, without quoting them", () => {
    const open = (baseUrl: string, apiKey: string | null) => () =>
      openOpenAiStt({ baseUrl, apiKey, model: "m" });
    expect(open("http://anna:secret@127.0.0.1/v1", null)).toThrow(/^(?!.*secret).*password/);
    for (const key of ["", "secret\n", "secret key", "sécret"])
      expect(open("http://127.0.0.1/v1", key)).toThrow(/^(?!.*(secret|sécret)).*API key/);
  });

  it("refuse a model without a name", () => {
    expect(() => openOpenAiStt({ baseUrl: "http://127.0.0.1/v1", apiKey: null, model: " " })).toThrow(
      "model",
    );
  });

  it("are described without what a URL may hide", () => {
    const baseUrl = "https://user:secret@example.org/v1?key=secret";
    expect(describeOpenAiStt({ baseUrl, model: "m" })).toBe("m at https://example.org");
  });
});
