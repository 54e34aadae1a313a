import { afterEach, describe, expect, it } from "vitest";
import { NO_PRIVATE_TARGETS, readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import type { LocalHandler, LocalServer } from "../../ports/testing/local-server.ts";
import { providerEngine } from "../../ports/testing/provider-engine.ts";
import { describeTtsConformance, durationMsOf, samplesOf } from "../../ports/testing/tts-conformance.ts";
import type { ProviderSpeech, VoiceProvider } from "../../ports/voice-provider.ts";
import type { GenericVoice } from "./request.ts";
import {
  answerIn,
  FORMS,
  KEY,
  openVoiceServer,
  pcmFor,
  RATE_HZ,
  samplesFor,
  speaking,
  wavOf,
  type Form,
} from "./testing/fake-voice-server.ts";
import { openGenericVoice, type GenericVoiceOptions } from "./tts-generic.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const TEXT = "Good evening, and welcome to the house.";

interface Opened {
  readonly server: LocalServer;
  readonly provider: VoiceProvider<"generic">;
  readonly speech: (voice?: Partial<GenericVoice>, text?: string) => ProviderSpeech<"generic">;
}

async function open(handler: LocalHandler, options: Partial<GenericVoiceOptions> = {}): Promise<Opened> {
  const server = await openVoiceServer(handler);
  const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });
  const provider = openGenericVoice({ client, ...options });
  opened.push(provider, server);
  return {
    server,
    provider,
    speech: (voice = {}, text = TEXT) => ({
      voice: { ...definition(server, "json"), ...voice },
      key: "",
      output: { sampleRateHz: 16_000, encoding: "pcm" },
      language: null,
      text,
    }),
  };
}

function definition({ baseUrl }: LocalServer, form: Form): GenericVoice {
  return {
    url: `${baseUrl}/speak`,
    headers: { Authorization: `Bearer ${KEY}` },
    body: { input: { text: "{text}" }, format: 1 },
    responseSampleRate: RATE_HZ,
    jsonAudioFieldPath: "data.audio.0",
    ...(form === "json-hex" ? { jsonByteEncoding: "JSON_BYTE_ENCODING_HEX" as const } : {}),
  };
}

function engineOf({ provider, server }: Opened, form: Form) {
  const output = { sampleRateHz: 16_000, encoding: "pcm" } as const;
  return providerEngine(provider, { voice: definition(server, form), key: "", output });
}

const respond =
  (status: number, contentType: string | null, body: string | Buffer): LocalHandler =>
  (_request, response) => {
    response.writeHead(status, contentType === null ? {} : { "content-type": contentType });
    response.end(body);
  };

const [, LINES] = answerIn("lines", TEXT);
/** The answer without its end. */
const begun: LocalHandler = (_request, response) => {
  response.writeHead(200, { "content-type": "application/jsonl" });
  response.write(String(LINES).slice(0, String(LINES).length / 2));
};

for (const form of FORMS) {
  describeTtsConformance(`a generic voice that answers ${form}`, {
    language: "en",
    open: async () => engineOf(await open(speaking(form)), form),
    openHanging: async () => {
      const each = await open(begun);
      return { engine: engineOf(each, form), reached: each.server.requested() };
    },
    openFailing: async () => engineOf(await open(respond(500, null, "")), form),
  });

  it(`plays the very samples of ${form}`, async () => {
    const { provider, server, speech } = await open(speaking(form));
    const { parts, error } = await collect(
      provider.synthesize(speech(definition(server, form)), neverAborted()),
    );
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(samplesFor(TEXT));
    const rates = parts.flatMap((part) => (part.type === "audio" ? [part.sampleRateHz] : []));
    expect(new Set(rates)).toEqual(new Set([RATE_HZ]));
  });
}

describe("a generic voice", () => {
  it("puts the text into every text of the body, and nothing else", async () => {
    const { provider, server, speech } = await open(respond(200, "audio/l16", pcmFor("a")));
    const text = 'Say "$&" and {text}\n';
    const body = { a: "{text}|{text}", list: [{ b: "<{text}>" }, 7, null, true], "{text}": "no" };
    await collect(provider.synthesize(speech({ body }, text), neverAborted()));
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
      a: `${text}|${text}`,
      list: [{ b: `<${text}>` }, 7, null, true],
      "{text}": "no",
    });
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/v1/speak" });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("sends the text alone where the definition has no body, and no request without words", async () => {
    const { provider, server, speech } = await open(respond(200, "audio/l16", pcmFor("a")));
    const bare = speech({ body: undefined });
    await collect(provider.synthesize(bare, neverAborted()));
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ text: TEXT });
    await collect(provider.synthesize({ ...bare, text: " … " }, neverAborted()));
    expect(server.requests).toHaveLength(1);
  });

  it("takes the type of the definition rather than the Content-Type", async () => {
    const json = answerIn("json", TEXT)[1];
    const cases = [
      ["audio/l16", "application/json", pcmFor(TEXT)],
      ["audio/wav", "text/plain", wavOf(pcmFor(TEXT))],
      ["application/json", "audio/wav", json],
      ["application/jsonl", "text/html", LINES],
      ["application/jsonl", "application/json", answerIn("events", TEXT)[1]],
    ] as const;
    for (const [responseMimeType, contentType, body] of cases) {
      const { provider, speech } = await open(respond(200, contentType, Buffer.from(body)));
      const { parts, error } = await collect(
        provider.synthesize(speech({ responseMimeType }), neverAborted()),
      );
      expect(error).toBeNull();
      expect(samplesOf(parts)).toEqual(samplesFor(TEXT));
    }
  });

  it("reads the rate of a WAV file, and of the definition before that of the Content-Type", async () => {
    const pcm = pcmFor(TEXT);
    const cases = [
      ["audio/wav", wavOf(pcm, 22_050), undefined, 22_050],
      ["audio/wav", wavOf(pcm, 44_100), 8_000, 44_100],
      ["audio/l16; rate=44100", pcm, undefined, 44_100],
      ["audio/l16; rate=44100", pcm, 8_000, 8_000],
      ["application/octet-stream", pcm, undefined, 24_000],
    ] as const;
    for (const [contentType, body, responseSampleRate, rateHz] of cases) {
      const { provider, speech } = await open(respond(200, contentType, body));
      const { parts } = await collect(provider.synthesize(speech({ responseSampleRate }), neverAborted()));
      const audio = parts.filter((part) => part.type === "audio");
      expect(new Set(audio.map(({ sampleRateHz }) => sampleRateHz))).toEqual(new Set([rateHz]));
    }
  });

  it("goes on with the header of the first line", async () => {
    const wav = wavOf(pcmFor(TEXT), 22_050);
    wav.writeUInt32LE(0xffff_ffff, 40);
    const lines = [wav.subarray(0, 701), wav.subarray(701)].map((part) =>
      JSON.stringify({ data: { audio: [part.toString("base64")] } }),
    );
    const { provider, speech } = await open(respond(200, "application/jsonl", lines.join("\n")));
    const { parts } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(samplesOf(parts)).toEqual(samplesFor(TEXT));
    expect(parts.find((part) => part.type === "audio")).toMatchObject({ sampleRateHz: 22_050 });
  });

  it("gives words by their rate, and those that would come later at the end", async () => {
    const { provider, speech } = await open(speaking("json"));
    const text = "One two three four.";
    const words = async (responseWordsPerMinute?: number) => {
      const { parts } = await collect(
        provider.synthesize(speech({ responseWordsPerMinute }, text), neverAborted()),
      );
      return parts.flatMap((part) => (part.type === "word" ? [[part.textOffset, part.atMs]] : []));
    };
    const endMs = (samplesFor(text).length * 1_000) / RATE_HZ;
    expect(await words(300)).toEqual([
      [0, 0],
      [4, 200],
      [8, 400],
      [14, 600],
    ]);
    expect(await words()).toEqual([
      [0, 0],
      [4, 400],
      [8, endMs],
      [14, endMs],
    ]);
  });

  it("hangs up when it is aborted and when its reader stops", async () => {
    const { provider, server, speech } = await open(begun);
    const abort = new AbortController();
    const first = server.hungUp();
    await collect(provider.synthesize(speech(), abort.signal), () => abort.abort());
    await first;
    const second = server.hungUp();
    for await (const part of provider.synthesize(speech(), neverAborted())) {
      expect(["audio", "word"]).toContain(part.type);
      break;
    }
    await second;
  });
});

describe("faults of a generic voice", () => {
  const line = (audio: unknown): string => JSON.stringify({ data: { audio: [audio] } });
  it.each([
    [
      "a refused key",
      respond(401, "application/json", `{"error":{"message":"wrong ${KEY}"}}`),
      "HTTP 401: wrong [key]",
      true,
    ],
    ["an unknown address", respond(404, "text/html", "<p>"), "answered HTTP 404", true],
    [
      "too many requests",
      respond(429, "application/json", '{"detail":"slow down"}'),
      "HTTP 429: slow down",
      false,
    ],
    ["a broken server", respond(503, "text/html", "<p>oops"), "answered HTTP 503", false],
    [
      "an error called 200",
      respond(200, "application/json", '{"error":{"message":"no memory"}}'),
      "an error: no memory",
      false,
    ],
    ["a page", respond(200, "text/html; charset=utf-8", "<p>hello"), "answered text/html, not audio", false],
    [
      "MP3",
      respond(200, "audio/mpeg", "ID3 something"),
      "answered MP3 audio; a generic voice must answer WAV",
      false,
    ],
    [
      "MP3 in JSON",
      respond(200, "application/json", line(Buffer.from("ID3 something").toString("base64"))),
      "answered MP3 audio",
      false,
    ],
    ["a broken document", respond(200, "application/json", '{"data":'), "something that is not JSON", false],
    ["a broken line", respond(200, "application/jsonl", "hello\n"), "something that is not JSON", false],
    ["a number as audio", respond(200, "application/json", line(7)), "no base64 text at data.audio.0", false],
    ["another alphabet", respond(200, "application/json", line("§§§")), "no base64 text", false],
    ["JSON without audio", respond(200, "application/json", "{}"), "answered no audio", false],
    ["no lines", respond(200, "application/jsonl", "\n\n"), "answered no audio", false],
    ["nothing", respond(200, "audio/l16", ""), "answered no audio", false],
    ["one byte", respond(200, "audio/l16", "x"), "answered no audio", false],
    ["204", respond(204, null, ""), "answered no audio", false],
    [
      "a redirect",
      ((_request, response) => void response.writeHead(307, { location: "/x" }).end()) satisfies LocalHandler,
      "failed: redirects are not followed",
      false,
    ],
    [
      "a refused connection",
      ((_request, response) => void response.destroy()) satisfies LocalHandler,
      "cannot be reached",
      false,
    ],
  ] as const)("throws on %s", async (_name, handler, message, isPermanent) => {
    const { provider, speech } = await open(handler);
    const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(durationMsOf(parts)).toBe(0);
    expect(error?.message).toContain(message);
    expect(error?.message).toMatch(/^the voice server /);
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent });
    expect(error?.message).not.toContain(KEY);
  });

  it("throws on headerless samples that are called a WAV file", async () => {
    const { provider, speech } = await open(respond(200, null, pcmFor(TEXT)));
    const { error } = await collect(
      provider.synthesize(speech({ responseMimeType: "audio/wav" }), neverAborted()),
    );
    expect(error?.message).toContain("something that is not a WAV file");
  });

  it("throws where a JSON answer has no path, for good", async () => {
    const { provider, speech } = await open(speaking("json"));
    const { error } = await collect(
      provider.synthesize(speech({ jsonAudioFieldPath: undefined }), neverAborted()),
    );
    expect(error).toMatchObject({ isPermanent: true, type: "no_path" });
  });

  it("reads own members only", async () => {
    const { provider, speech } = await open(respond(200, "application/json", "{}"));
    const { error } = await collect(
      provider.synthesize(speech({ jsonAudioFieldPath: "constructor.name" }), neverAborted()),
    );
    expect(error?.message).toContain("answered no audio");
  });

  it.each([false, true])("throws when the server says nothing more (begun: %s)", async (hasBegun) => {
    const { provider, speech } = await open(hasBegun ? begun : () => undefined, { stallTimeoutMs: 500 });
    const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(hasBegun || parts.length === 0).toBe(true);
    expect(error).toMatchObject({ message: "the voice server stopped answering", type: "timeout" });
  });

  it("throws when the answer breaks off", async () => {
    const { provider, speech } = await open((request, response) => {
      void begun(request, response);
      response.write(" ", () => response.destroy());
    });
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toMatchObject({ isPermanent: false });
    expect(error?.message).toContain("broke off its answer");
  });

  it("ends an answer that never ends, by its length and by its time", async () => {
    const forever: LocalHandler = (_request, response) => {
      response.writeHead(200, { "content-type": "application/jsonl" });
      const more = (): void => {
        if (!response.destroyed) response.write("{}\n", () => setImmediate(more));
      };
      more();
    };
    const long = await open(forever, { maxAnswerBytes: 10_000 });
    const tooLong = await collect(long.provider.synthesize(long.speech(), neverAborted()));
    expect(tooLong.error).toMatchObject({ type: "too_long" });
    const slow = await open(forever, { sentenceLimitMs: 200 });
    const tooSlow = await collect(slow.provider.synthesize(slow.speech(), neverAborted()));
    expect(tooSlow.error).toMatchObject({ type: "timeout" });
  });

  it("plays a slow answer to its end", async () => {
    const { provider, speech } = await open((_request, response) => {
      response.writeHead(200, { "content-type": "application/jsonl" });
      const pieces = String(LINES).match(/[^]{1,97}/g) ?? [];
      const next = (at: number): void => {
        if (at === pieces.length) response.end();
        else response.write(pieces[at], () => setImmediate(next, at + 1));
      };
      next(0);
    });
    const { parts, error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toBeNull();
    expect(samplesOf(parts)).toEqual(samplesFor(TEXT));
  });

  it("does not reach addresses that are not allowed", async () => {
    const { server, speech } = await open(speaking("json"));
    const provider = openGenericVoice({ client: openGuardedClient({ allowed: NO_PRIVATE_TARGETS }) });
    opened.push(provider);
    for (const url of [
      server.baseUrl,
      "http://localhost/",
      "file:///etc/passwd",
      "http://a:b@example.com/",
    ]) {
      const { error } = await collect(provider.synthesize(speech({ url }), neverAborted()));
      expect(error).toMatchObject({ isPermanent: true, type: "target_refused" });
    }
    expect(server.requests).toEqual([]);
  });
});
