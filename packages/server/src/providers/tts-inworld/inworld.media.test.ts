import { describe, expect, it } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../media/g711.ts";
import { neverAborted } from "../../ports/testing/collect.ts";
import { samplesOf } from "../../ports/testing/tts-conformance.ts";
import { fakeSpeech, MS_PER_CHAR } from "../sockets/testing/fake-voice.ts";
import { ManualTimers } from "../../ports/testing/manual-timers.ts";
import { describeProviderFaults } from "../sockets/testing/provider-faults.ts";
import { voiceStand } from "../sockets/testing/voice-stand.ts";
import { openInworld, PIECE_CHARS } from "./inworld.ts";
import { INWORLD_KEY, openFakeInworld } from "./testing/fake-inworld.ts";

const isOf = (verb: string) => (message: unknown) =>
  typeof message === "object" && message !== null && verb in message;

const USE = {
  voice: { voiceId: "Ashley" },
  key: INWORLD_KEY,
  output: { sampleRateHz: 16_000, encoding: "pcm" },
} as const;

describeProviderFaults<"provider5">("Inworld", {
  openVendor: () => openFakeInworld(),
  open: openInworld,
  use: USE,
  wrongKeyMessage: "Inworld answered HTTP 401: Invalid key Basic [key]",
  isText: isOf("send_text"),
  garbage: [
    ["a text that is not JSON", "}{"],
    ["bytes", Uint8Array.of(1, 2, 3, 4)],
    ["an object that is no answer", '{"result":7}'],
    ["an error of the connection", '{"error":{"code":13,"message":"internal"}}'],
  ],
});

describe("Inworld", () => {
  const { open, speak } = voiceStand({
    openVendor: openFakeInworld,
    openProvider: openInworld,
    use: USE,
  });
  const wordsOf = ({ parts }: Awaited<ReturnType<typeof speak>>) =>
    parts.flatMap((part) => (part.type === "word" ? [[part.textOffset, part.atMs]] : []));

  it("sends each setting that is set, and no other", async () => {
    const { vendor, provider } = await open();
    await speak(provider);
    const numbers = { speakingRate: 1.25, temperature: 0.7, applyTextNormalization: false };
    await speak(provider, {
      voice: { voiceId: "Craig", modelId: "inworld-tts-1.5-max", ...numbers },
      output: { sampleRateHz: 48_000, encoding: "pcm" },
    });
    const creates = vendor.received.flatMap(({ message }) =>
      isOf("create")(message) ? [Reflect.get(message as object, "create") as unknown] : [],
    );
    const times = { timestampType: "WORD", timestampTransportStrategy: "SYNC" };
    expect(creates).toEqual([
      {
        voiceId: "Ashley",
        modelId: "inworld-tts-2",
        audioConfig: { audioEncoding: "PCM", sampleRateHertz: 16_000 },
        ...times,
      },
      {
        voiceId: "Craig",
        modelId: "inworld-tts-1.5-max",
        audioConfig: { audioEncoding: "PCM", sampleRateHertz: 48_000, speakingRate: 1.25 },
        temperature: 0.7,
        applyTextNormalization: "OFF",
        ...times,
      },
    ]);
  });

  it.each([
    [8_000, 8_000],
    [11_025, 16_000],
    [24_000, 24_000],
    [30_000, 32_000],
    [96_000, 48_000],
  ])("asks for a rate that Inworld has: for %i Hz %i Hz", async (sampleRateHz, asked) => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, { output: { sampleRateHz, encoding: "pcm" } });
    expect(error).toBeNull();
    expect(parts[0]).toMatchObject({ sampleRateHz: asked });
  });

  it("tells an unknown model in Inworld's words, and does not try it again", async () => {
    const { provider } = await open();
    const { error } = await speak(provider, { voice: { voiceId: "Ashley", modelId: "inworld-tts-1.5" } });
    expect(error).toMatchObject({
      isPermanent: true,
      message: "Inworld answered invalidArgument: Unknown model: inworld-tts-1.5 not found!",
    });
  });

  it("reads G.711 where it is played", async () => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, { output: { sampleRateHz: 8_000, encoding: "mulaw" } });
    expect(error).toBeNull();
    expect(parts[0]).toMatchObject({ sampleRateHz: 8_000 });
    expect(samplesOf(parts)).toEqual(decodeMulaw(encodeMulaw(fakeSpeech("We open at nine.", 8_000))));
  });

  it("plays nothing that is not base64", async () => {
    const { provider } = await open({ spoilsAudio: true });
    const { parts, error } = await speak(provider);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({
      isPermanent: false,
      type: "garbage",
      message: "Inworld sent audio that is no base64",
    });
  });

  it("plays no WAV header", async () => {
    const { provider } = await open({ riffHeaders: true, chunkBytes: 1_000 });
    const { parts } = await speak(provider);
    expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
  });

  it.each([false, true])("gives the times of words (after their audio: %s)", async (lateWords) => {
    const { provider } = await open({ lateWords });
    expect(wordsOf(await speak(provider))).toEqual(
      [
        [0, 0],
        [3, 15],
        [8, 40],
        [11, 55],
      ].map(([offset, atMs]) => [offset, expect.closeTo(atMs ?? 0, 3)]),
    );
  });

  it("cuts a long text between words, and adds up the times of its pieces", async () => {
    const { vendor, provider } = await open();
    const text = "The quick brown fox jumps over the lazy dog again. ".repeat(50).trim();
    const result = await speak(provider, { text });
    expect(result.error).toBeNull();
    const sent = vendor.received.flatMap(({ message }) =>
      isOf("send_text")(message)
        ? [Reflect.get(Reflect.get(message as object, "send_text") as object, "text") as string]
        : [],
    );
    expect(sent.length).toBe(3);
    expect(sent.join("")).toBe(text);
    for (const piece of sent) expect(piece.length).toBeLessThanOrEqual(PIECE_CHARS);
    for (const piece of sent.slice(0, -1)) expect(piece).toMatch(/\s$/);
    const words = wordsOf(result);
    expect(words).toHaveLength(text.split(" ").length);
    for (const [offset = 0, atMs = 0] of words) expect(Math.abs(atMs - offset * MS_PER_CHAR)).toBeLessThan(3);
  });

  it("has at most five contexts on a socket", async () => {
    const { vendor, provider } = await open();
    const results = await Promise.all(Array.from({ length: 13 }, () => speak(provider)));
    for (const { parts } of results) expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
    expect(vendor.mostSockets).toBe(3);
  });

  it.each([true, false])(
    "closes an interrupted context and drops what comes (stops: %s)",
    async (stopsAtClose) => {
      const { vendor, provider } = await open({ stopsAtClose, chunkBytes: 101 });
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          const text = "A long text that nobody hears to its end, not even the fifth time.";
          for await (const part of provider.synthesize({ ...USE, language: null, text }, neverAborted())) {
            expect(part.type).toBe("audio");
            break;
          }
        }),
      );
      await vendor.got(isOf("close_context"));
      const results = await Promise.all(Array.from({ length: 5 }, () => speak(provider)));
      for (const { parts } of results)
        expect(samplesOf(parts)).toEqual(fakeSpeech("We open at nine.", 16_000));
    },
  );

  it("keeps an idle socket open by an empty text, whose refusal is no failure", async () => {
    const timers = new ManualTimers();
    const { vendor, provider } = await open({}, { timers });
    // Each sentence also brings the answer to the ping before it.
    for (let passed = 0; passed < 60_000; passed += 20_000) {
      expect((await speak(provider)).error).toBeNull();
      timers.pass(20_000);
    }
    await vendor.got((message) => JSON.stringify(message) === '{"send_text":{"text":""}}');
    expect((await speak(provider)).error).toBeNull();
    expect(vendor.upgrades).toHaveLength(1);
  });

  it.each([
    ["a voice that Inworld has not", { voice: { voiceId: "Nobody" } }, true, "notFound"],
    ["a voice without an id", { voice: {} }, true, "no_voice"],
    ["a text that is too long", { text: "a".repeat(5_001) }, false, "too_long"],
  ])("refuses %s", async (_name, fields, isPermanent, type) => {
    const { provider } = await open();
    const { parts, error } = await speak(provider, fields);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent, type });
  });

  it.each([
    [3, false, "invalidArgument"],
    [7, true, "permissionDenied"],
    [8, false, "resourceExhausted"],
    [14, false, "unavailable"],
    [16, true, "unauthenticated"],
    [99, false, "status 99"],
  ])("status %i for a text is a permanent failure: %s", async (code, isPermanent, type) => {
    const { provider } = await open({ refuses: { code, message: "not today" } });
    const { error } = await speak(provider);
    expect(error).toMatchObject({ isPermanent, type, message: `Inworld answered ${type}: not today` });
  });
});
