import { afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { openLocalServer, type LocalHandler, type LocalServer } from "../../ports/testing/local-server.ts";
import {
  describeTtsConformance,
  durationMsOf,
  samplesOf,
  ttsRequest,
} from "../../ports/testing/tts-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { MAX_TEXT_CHARS, openOpenAiTts, type OpenAiTtsOptions } from "./tts-openai.ts";

const servers: LocalServer[] = [];
const engines: TtsEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function open(handler: LocalHandler, fields: Partial<OpenAiTtsOptions> = {}) {
  const server = await openLocalServer(handler);
  servers.push(server);
  const engine = await openOpenAiTts({
    baseUrl: server.baseUrl,
    apiKey: "secret-key-1",
    model: "voice-model",
    voice: "anna",
    voices: ["bert"],
    ...fields,
  });
  engines.push(engine);
  return { server, engine };
}

/** 50 ms of a rising ramp per letter, as a stand-in for speech whose length follows the text. */
function pcmOf(text: string): Buffer {
  const samples = new Int16Array(text.length * 1_200);
  for (let i = 0; i < samples.length; i += 1) samples[i] = ((i * 37) % 20_000) - 10_000;
  return Buffer.from(samples.buffer);
}

const inputOf = (body: string): string => String((JSON.parse(body) as { input: unknown }).input);

/** Writes `bytes` in pieces of odd length, each flushed by itself. */
const speak: LocalHandler = async ({ body }, response) => {
  response.writeHead(200, { "content-type": "audio/pcm" });
  const bytes = pcmOf(inputOf(body));
  for (let at = 0; at < bytes.length; at += 4_801) {
    response.write(bytes.subarray(at, at + 4_801));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
};

const respond =
  (status: number, type: string | null, body: string | Uint8Array): LocalHandler =>
  (_request, response) => {
    response.writeHead(status, type === null ? {} : { "content-type": type });
    response.end(body);
  };

describeTtsConformance("an OpenAI-compatible server", {
  open: async () => (await open(speak)).engine,
  language: "en",
  openHanging: async () => {
    const { engine, server } = await open((_request, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      response.write(pcmOf("a"));
    });
    return { engine, reached: server.requested() };
  },
  openFailing: async () =>
    (
      await open((_request, response) => {
        response.writeHead(200, { "content-type": "audio/pcm" });
        response.write(pcmOf("a"), () => response.destroy());
      })
    ).engine,
});

describe("the voice behind an OpenAI-compatible server", () => {
  it("sends what the protocol wants and gives back the samples in small parts", async () => {
    const { engine, server } = await open(speak);
    const request = ttsRequest("Good evening.", { voice: "bert" });
    const { parts, error } = await collect(engine.synthesize(request, neverAborted()));
    expect(error).toBeNull();
    expect(Buffer.from(samplesOf(parts).buffer)).toEqual(pcmOf("Good evening."));
    for (const part of parts) {
      expect(part.type).toBe("audio");
      expect(durationMsOf([part])).toBeLessThanOrEqual(200);
    }
    const [requested] = server.requests;
    expect(requested?.method).toBe("POST");
    expect(requested?.path).toBe("/v1/audio/speech");
    expect(requested?.headers.authorization).toBe("Bearer secret-key-1");
    expect(JSON.parse(requested?.body ?? "")).toEqual({
      model: "voice-model",
      input: "Good evening.",
      voice: "bert",
      response_format: "pcm",
    });
  });

  it("sends no key when it has none, and does not ask for silence", async () => {
    const { engine, server } = await open(speak, { apiKey: null });
    await collect(engine.synthesize(ttsRequest("One."), neverAborted()));
    await collect(engine.synthesize(ttsRequest(" \n"), neverAborted()));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("reads a WAV answer at its own rate, whatever the type says", async () => {
    const header = Buffer.alloc(44);
    header.write("RIFF", 0);
    header.write("WAVEfmt ", 8);
    header.writeUInt32LE(16, 16);
    header.writeUInt16LE(1, 20);
    header.writeUInt16LE(1, 22);
    header.writeUInt32LE(16_000, 24);
    header.writeUInt32LE(32_000, 28);
    header.writeUInt16LE(2, 32);
    header.writeUInt16LE(16, 34);
    header.write("data", 36);
    header.writeUInt32LE(0xffff_ffff, 40);
    const file = Buffer.concat([header, pcmOf("ab")]);
    for (const type of ["audio/wav", "audio/mpeg", "application/octet-stream", null]) {
      const { engine } = await open(respond(200, type, file));
      const { parts, error } = await collect(engine.synthesize(ttsRequest("ab"), neverAborted()));
      expect(error).toBeNull();
      expect(Buffer.from(samplesOf(parts).buffer)).toEqual(pcmOf("ab"));
      for (const part of parts) expect(part).toMatchObject({ sampleRateHz: 16_000 });
    }
  });

  it("yields audio while the rest is still to come", async () => {
    let finish = (): void => undefined;
    const { engine } = await open((_request, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      response.write(pcmOf("a"));
      finish = () => response.end(pcmOf("a"));
    });
    const { parts, error } = await collect(
      engine.synthesize(ttsRequest("aa"), neverAborted()),
      (_part, index) => {
        if (index === 0) finish();
      },
    );
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBe(100);
  });

  it("hangs up when it is aborted and when its reader stops", async () => {
    const hang: LocalHandler = (_request, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      response.write(pcmOf("a"));
    };
    const { engine, server } = await open(hang);
    const abort = new AbortController();
    const first = server.hungUp();
    await collect(engine.synthesize(ttsRequest("one"), abort.signal), () => {
      abort.abort();
    });
    await first;
    const second = server.hungUp();
    for await (const part of engine.synthesize(ttsRequest("two"), neverAborted())) {
      expect(part.type).toBe("audio");
      break;
    }
    await second;
  });

  it.each([
    [
      "a wrong key",
      respond(401, "application/json", '{"error":{"message":"Wrong key secret-key-1"}}'),
      "HTTP 401: Wrong key [key]",
    ],
    ["too many requests", respond(429, "application/json", '{"error":"slow down"}'), "HTTP 429: slow down"],
    ["a broken server", respond(500, "text/html", "<h1>Oops</h1>"), "HTTP 500"],
    ["a validation error", respond(422, "application/json", '{"detail":"no such model"}'), "no such model"],
    [
      "an error that says 200",
      respond(200, "application/json", '{"error":{"message":"out of memory"}}'),
      "out of memory",
    ],
    ["a page", respond(200, "text/html; charset=utf-8", "<p>hello</p>"), "answered text/html"],
    ["MP3", respond(200, "audio/mpeg", Buffer.from("ID3 something something")), "MP3"],
    ["nothing", respond(200, "audio/pcm", ""), "answered no audio"],
    ["one byte", respond(200, "audio/pcm", "x"), "answered no audio"],
    ["204", respond(204, null, ""), "answered no audio"],
    [
      "a redirect",
      ((_request, response) => {
        response.writeHead(302, { location: "/elsewhere" });
        response.end();
      }) satisfies LocalHandler,
      "cannot be reached",
    ],
    [
      "a refused connection",
      ((_request, response) => {
        response.destroy();
      }) satisfies LocalHandler,
      "cannot be reached",
    ],
  ])("throws on %s", async (_name, handler, message) => {
    const { engine } = await open(handler);
    const { parts, error } = await collect(engine.synthesize(ttsRequest("Hello."), neverAborted()));
    expect(parts).toEqual([]);
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain("secret-key-1");
  });

  it.each([
    [401, true],
    [403, true],
    [404, true],
    [429, false],
    [500, false],
  ])("HTTP %i is a permanent failure: %s", async (status, isPermanent) => {
    const { engine } = await open(respond(status, "application/json", '{"error":{"message":"no"}}'));
    const { error } = await collect(engine.synthesize(ttsRequest("Hello."), neverAborted()));
    expect(error).toMatchObject({ isPermanent, type: String(status) });
  });

  it("a refused model is a permanent failure where the server says it by a code", async () => {
    const body = '{"error":{"message":"no","code":"model_not_found"}}';
    const { engine } = await open(respond(400, "application/json", body));
    const { error } = await collect(engine.synthesize(ttsRequest("Hello."), neverAborted()));
    expect(error).toMatchObject({ isPermanent: true, message: "the voice server answered HTTP 400: no" });
  });

  it("throws when nobody listens", async () => {
    const { engine, server } = await open(speak);
    await server.close();
    const { error } = await collect(engine.synthesize(ttsRequest("Hello."), neverAborted()));
    expect(error?.message).toBe("the voice server cannot be reached (ECONNREFUSED)");
  });

  it("throws when the server stalls before or within its answer", async () => {
    for (const begin of [false, true]) {
      const { engine } = await open(
        (_request, response) => {
          if (!begin) return;
          response.writeHead(200, { "content-type": "audio/pcm" });
          response.write(pcmOf("a"));
        },
        { stallTimeoutMs: 100 },
      );
      const { parts, error } = await collect(engine.synthesize(ttsRequest("Hello."), neverAborted()));
      expect(durationMsOf(parts)).toBe(begin ? 50 : 0);
      expect(error?.message).toBe("the voice server stopped answering");
    }
  });

  it("does not blame the server for a slow reader", async () => {
    const { engine } = await open(speak, { stallTimeoutMs: 60 });
    const { error } = await collect(
      engine.synthesize(ttsRequest("abc"), neverAborted()),
      async (_part, index) => {
        if (index === 0) await new Promise((resolve) => setTimeout(resolve, 150));
      },
    );
    expect(error).toBeNull();
  });

  it("refuses an endless answer and a text that is too long", async () => {
    const megabyte = Buffer.alloc(1_048_576, 1);
    const { engine } = await open((_request, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      const more = (): void => {
        if (!response.destroyed) response.write(megabyte, more);
      };
      more();
    });
    let error: Error | null = null;
    try {
      for await (const part of engine.synthesize(ttsRequest("Hello."), neverAborted()))
        expect(part.type).toBe("audio");
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error?.message).toContain("more than");
    const long = await collect(engine.synthesize(ttsRequest("a".repeat(MAX_TEXT_CHARS + 1)), neverAborted()));
    expect(long.error?.message).toContain("4097");
  });
});
