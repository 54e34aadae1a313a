/** Each adapter of a voice with the fake of its vendor and one fault. */

import type { VoiceKind } from "@parley/schema";
import { readAllowedTargets } from "../../src/net/address-filter.ts";
import { openGuardedClient } from "../../src/net/guarded-fetch.ts";
import { openLocalServer, type LocalHandler } from "../../src/ports/testing/local-server.ts";
import type { ExternalVoiceSettings } from "../../src/plan/voice-plan.ts";
import type { VoiceProvider } from "../../src/ports/voice-provider.ts";
import { openCartesia } from "../../src/providers/tts-cartesia/tts-cartesia.ts";
import {
  KEY as CARTESIA_KEY,
  openFakeCartesia,
} from "../../src/providers/tts-cartesia/testing/fake-cartesia.ts";
import { openElevenLabs } from "../../src/providers/tts-elevenlabs/tts-elevenlabs.ts";
import {
  KEY as ELEVENLABS_KEY,
  openFakeElevenLabs,
} from "../../src/providers/tts-elevenlabs/testing/fake-elevenlabs.ts";
import { openGenericVoice } from "../../src/providers/tts-generic/tts-generic.ts";
import {
  openFakeGoogle,
  type Fault as GoogleFault,
} from "../../src/providers/tts-google/testing/fake-google.ts";
import { openGoogleTts } from "../../src/providers/tts-google/tts-google.ts";
import { openInworld } from "../../src/providers/tts-inworld/inworld.ts";
import { INWORLD_KEY, openFakeInworld } from "../../src/providers/tts-inworld/testing/fake-inworld.ts";
import { openLmnt } from "../../src/providers/tts-lmnt/lmnt.ts";
import { LMNT_KEY, openFakeLmnt } from "../../src/providers/tts-lmnt/testing/fake-lmnt.ts";
import { openOpenAiTts } from "../../src/providers/tts-openai/tts-openai.ts";
import {
  openFakeSpeechServer,
  SPEECH_KEY,
  type SpeechServerFault,
} from "../../src/providers/tts-openai/testing/fake-speech-server.ts";
import { openRespeecher } from "../../src/providers/tts-respeecher/respeecher.ts";
import {
  openFakeRespeecher,
  RESPEECHER_KEY,
} from "../../src/providers/tts-respeecher/testing/fake-respeecher.ts";
import type { Fault as SpeechFault } from "../../src/providers/sockets/testing/fake-speech.ts";
import type {
  FakeVoiceVendor,
  VendorFault as SocketFault,
} from "../../src/providers/sockets/testing/fake-voice-vendor.ts";
import type { FaultyVoice } from "./faulty-call.ts";
import type { VendorFault } from "./gates.ts";
import { NEVER_LOCAL, openFaultyLocalTts } from "./local-models.ts";

export interface OpenedVoice {
  readonly voice: FaultyVoice;
  readonly close: () => Promise<void>;
}

export interface VoiceSubject {
  readonly name: string;
  /** Faults that it cannot have. Unset: none. */
  readonly never?: readonly VendorFault[];
  readonly open: (fault: VendorFault) => Promise<OpenedVoice>;
}

const WRONG_KEY = "a-key-that-nobody-has";
/** Of one character. */
const MS_PER_CHAR = 40;
/** A quarter of a second at 16 kHz; odd, so that a sample is cut. */
const PIECE_BYTES = 8_001;
const log = (): void => undefined;

/** Faults that need no fault of the fake: the key is wrong, or the call itself makes the vendor slow. */
function needsNone(fault: VendorFault): fault is "refused key" | "slow" {
  return fault === "refused key" || fault === "slow";
}

const SPEECH_FAULTS = {
  "429": "rate limit",
  "5xx": "server error",
  "hang before the first byte": "hang",
  "hang in the middle": "hang in the middle",
  garbage: "garbage",
  "drop in the middle": "drop in the middle",
} as const satisfies Partial<Record<VendorFault, SpeechFault>>;

const SOCKET_FAULTS = {
  "429": { type: "refused", status: 429, body: "" },
  "5xx": { type: "refused", status: 503, body: "" },
  "hang before the first byte": { type: "silent" },
  "hang in the middle": { type: "stalled" },
  garbage: { type: "garbage", frame: "<html>busy</html>" },
  "drop in the middle": { type: "dropped" },
} as const satisfies Partial<Record<VendorFault, SocketFault>>;

const SERVER_FAULTS = {
  "429": "429",
  "5xx": "5xx",
  "hang before the first byte": "hang",
  "hang in the middle": "hang in the middle",
  garbage: "garbage",
  "drop in the middle": "drop in the middle",
} as const satisfies Partial<Record<VendorFault, SpeechServerFault>>;

/** gRPC statuses: PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const GOOGLE_FAULTS = {
  "refused key": { status: 7 },
  "429": { status: 8 },
  "5xx": { status: 14 },
  "hang before the first byte": { kind: "hang" },
  "hang in the middle": { kind: "hang", when: "middle" },
  garbage: { kind: "garbage", when: "middle" },
  "drop in the middle": { status: 14, when: "middle" },
} as const satisfies Partial<Record<VendorFault, GoogleFault>>;

interface Closable {
  close(): Promise<void>;
}

function external<Kind extends VoiceKind>(
  provider: VoiceProvider<Kind>,
  settings: ExternalVoiceSettings,
  key: string,
  fault: VendorFault | null,
  vendor: Closable,
): OpenedVoice {
  return {
    // The kind of the settings is that of the provider.
    voice: {
      kind: "external",
      provider: provider as unknown as VoiceProvider,
      settings,
      key: fault === "refused key" ? WRONG_KEY : key,
    },
    close: async () => {
      await provider.close();
      await vendor.close();
    },
  };
}

interface SocketVoice<Kind extends VoiceKind> {
  readonly name: string;
  readonly openVendor: () => Promise<FakeVoiceVendor>;
  readonly open: (options: { baseUrl: string; log: (message: string) => void }) => VoiceProvider<Kind>;
  readonly voiceId: string;
  readonly key: string;
}

function overSocket<Kind extends VoiceKind>(parts: SocketVoice<Kind>): VoiceSubject {
  const { name, openVendor, open, voiceId, key } = parts;
  return {
    name,
    async open(fault) {
      const vendor = await openVendor();
      vendor.fault = needsNone(fault) ? null : SOCKET_FAULTS[fault];
      const provider = open({ baseUrl: vendor.baseUrl, log });
      return external(provider, { voiceId }, key, fault, vendor);
    },
  };
}

/** A server that answers samples, or fails. */
function speaking(fault: VendorFault, key: string, textOf: (body: unknown) => string): LocalHandler {
  return ({ headers, body }, response) => {
    if (headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
      return;
    }
    if (fault === "429" || fault === "5xx") {
      response.writeHead(fault === "429" ? 429 : 503).end();
      return;
    }
    if (fault === "hang before the first byte") return;
    if (fault === "garbage") {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>busy</html>");
      return;
    }
    const samples = new Int16Array(textOf(JSON.parse(body)).length * MS_PER_CHAR * 24).fill(9_000);
    const bytes = Buffer.from(samples.buffer);
    response.writeHead(200, { "content-type": "audio/pcm" });
    if (fault === "hang in the middle") response.write(bytes.subarray(0, bytes.length / 2));
    else if (fault === "drop in the middle")
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    else response.end(bytes);
  };
}

function fieldOf(body: unknown, field: string): string {
  const value: unknown = typeof body === "object" && body !== null ? Reflect.get(body, field) : null;
  if (typeof value !== "string") throw new Error(`the request has no ${field}`);
  return value;
}

export const VOICES: readonly VoiceSubject[] = [
  {
    name: "ElevenLabs",
    async open(fault) {
      const vendor = await openFakeElevenLabs({
        msPerChar: MS_PER_CHAR,
        fault: () => (needsNone(fault) ? null : SPEECH_FAULTS[fault]),
      });
      const provider = openElevenLabs({ baseUrl: vendor.baseUrl, log });
      return external(provider, { voiceId: "v" }, ELEVENLABS_KEY, fault, vendor);
    },
  },
  {
    name: "Cartesia",
    async open(fault) {
      const vendor = await openFakeCartesia({
        msPerChar: MS_PER_CHAR,
        fault: () => (needsNone(fault) ? null : SPEECH_FAULTS[fault]),
      });
      const provider = openCartesia({ baseUrl: vendor.baseUrl, log });
      return external(provider, { voiceId: "v" }, CARTESIA_KEY, fault, vendor);
    },
  },
  overSocket({
    name: "LMNT",
    openVendor: () => openFakeLmnt({ msPerChar: MS_PER_CHAR, frameBytes: PIECE_BYTES }),
    open: openLmnt,
    voiceId: "leah",
    key: LMNT_KEY,
  }),
  {
    name: "Google",
    async open(fault) {
      const vendor = await openFakeGoogle({
        msPerChar: MS_PER_CHAR,
        pieceBytes: PIECE_BYTES,
        fault: () => (fault === "slow" ? null : GOOGLE_FAULTS[fault]),
      });
      const provider = openGoogleTts({ baseUrl: vendor.baseUrl, tokenUrl: vendor.tokenUrl, log });
      // Its key makes a token, so what is refused is the token.
      const streaming = { voiceId: "en-US-Chirp3-HD-Charon" };
      return external(provider, streaming, vendor.key, fault === "refused key" ? null : fault, vendor);
    },
  },
  overSocket({
    name: "Inworld",
    openVendor: () => openFakeInworld({ msPerChar: MS_PER_CHAR, chunkBytes: PIECE_BYTES }),
    open: openInworld,
    voiceId: "Ashley",
    key: INWORLD_KEY,
  }),
  overSocket({
    name: "Respeecher",
    openVendor: () => openFakeRespeecher({ msPerChar: MS_PER_CHAR, chunkBytes: PIECE_BYTES }),
    open: openRespeecher,
    voiceId: "samantha",
    key: RESPEECHER_KEY,
  }),
  {
    name: "generic",
    async open(fault) {
      const key = "generic-key-1";
      const server = await openLocalServer(speaking(fault, key, (body) => fieldOf(body, "text")));
      const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });
      const provider = openGenericVoice({ client });
      const sent = fault === "refused key" ? WRONG_KEY : key;
      const settings = {
        url: `${server.baseUrl}/speak`,
        headers: { Authorization: `Bearer ${sent}` },
        responseSampleRate: 24_000,
      };
      return external(provider, settings, "", null, server);
    },
  },
  {
    name: "OpenAI-compatible",
    async open(fault) {
      const server = await openFakeSpeechServer({
        msPerChar: MS_PER_CHAR,
        pieceBytes: PIECE_BYTES,
        fault: needsNone(fault) ? null : SERVER_FAULTS[fault],
      });
      const engine = await openOpenAiTts({
        baseUrl: server.baseUrl,
        apiKey: fault === "refused key" ? WRONG_KEY : SPEECH_KEY,
        model: "m",
        voice: "anna",
      });
      return {
        voice: { kind: "deployment", engine },
        close: async () => {
          await engine.close();
          await server.close();
        },
      };
    },
  },
  {
    name: "Piper, Kitten, Kokoro",
    // The audio of a sentence of this length is one answer of the process.
    never: [...NEVER_LOCAL, "hang in the middle", "drop in the middle"],
    async open(fault) {
      const engine = await openFaultyLocalTts(fault);
      return { voice: { kind: "deployment", engine }, close: () => engine.close() };
    },
  },
];
