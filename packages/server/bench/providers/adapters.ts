/** The adapters that `npm run bench:providers` measures, each with the fake of its vendor. A new adapter is a new row. */

import type { VoiceKind } from "@parley/schema";
import type { VoiceProvider, VoiceUse } from "../../src/ports/voice-provider.ts";
import type { FakePace } from "../../src/providers/sockets/testing/fake-voice.ts";
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
import { openFakeGoogle } from "../../src/providers/tts-google/testing/fake-google.ts";
import { VOICES as GOOGLE_VOICES } from "../../src/providers/tts-google/testing/rules.ts";
import { openGoogleTts } from "../../src/providers/tts-google/tts-google.ts";
import { openInworld } from "../../src/providers/tts-inworld/inworld.ts";
import { INWORLD_KEY, openFakeInworld } from "../../src/providers/tts-inworld/testing/fake-inworld.ts";
import { openLmnt } from "../../src/providers/tts-lmnt/lmnt.ts";
import { LMNT_KEY, openFakeLmnt } from "../../src/providers/tts-lmnt/testing/fake-lmnt.ts";
import { openRespeecher } from "../../src/providers/tts-respeecher/respeecher.ts";
import {
  openFakeRespeecher,
  RESPEECHER_KEY,
} from "../../src/providers/tts-respeecher/testing/fake-respeecher.ts";
import type { VendorAddress } from "./vendor-protocol.ts";

export interface FakeVendor {
  readonly address: VendorAddress;
  /** Rules of the vendor that the adapter broke. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** One row of the table. */
export interface BenchedAdapter {
  readonly name: string;
  /** Runs in another process than the adapter. */
  openVendor(pace: FakePace): Promise<FakeVendor>;
  /** Speaks one text after another, or several at a time. */
  openSpeaker(address: VendorAddress): BenchSpeaker;
}

export interface BenchSpeaker {
  synthesize(text: string): ReturnType<VoiceProvider["synthesize"]>;
  close(): Promise<void>;
}

interface AdapterOptions {
  readonly baseUrl: string;
  readonly tokenUrl?: string;
  readonly log: (message: string) => void;
}

interface Row<Kind extends VoiceKind> {
  readonly name: string;
  readonly openVendor: (pace: FakePace) => Promise<FakeVendor>;
  readonly open: (options: AdapterOptions) => VoiceProvider<Kind>;
  readonly voice: VoiceUse<Kind>["voice"];
  /** Unless the address has one. */
  readonly key: string;
}

/** What the calls of a browser have. */
const OUTPUT = { sampleRateHz: 24_000, encoding: "pcm" } as const;

function row<Kind extends VoiceKind>({ name, openVendor, open, voice, key }: Row<Kind>): BenchedAdapter {
  return {
    name,
    openVendor,
    openSpeaker({ baseUrl, tokenUrl, key: madeKey }) {
      const provider = open({
        baseUrl,
        ...(tokenUrl === undefined ? {} : { tokenUrl }),
        log: (message) => {
          console.error(message);
        },
      });
      const use = { voice, key: madeKey ?? key, output: OUTPUT, language: "en" };
      return {
        synthesize: (text) => provider.synthesize({ ...use, text }, new AbortController().signal),
        close: () => provider.close(),
      };
    },
  };
}

interface SocketFake {
  readonly baseUrl: string;
  readonly problems: readonly string[];
  close(): Promise<void>;
}

function overSockets(openFake: (pace: FakePace) => Promise<SocketFake>): BenchedAdapter["openVendor"] {
  return async (pace) => {
    const fake = await openFake(pace);
    return {
      address: { baseUrl: fake.baseUrl },
      problems: fake.problems,
      close: () => fake.close(),
    };
  };
}

/** Of a message of Google, in bytes; the fake of its tests cuts smaller ones. */
const GOOGLE_PIECE_BYTES = 9_999;

export const ADAPTERS: readonly BenchedAdapter[] = [
  row<"provider1">({
    name: "ElevenLabs",
    openVendor: overSockets(async (pace) => {
      const fake = await openFakeElevenLabs(pace);
      return { baseUrl: fake.baseUrl, problems: fake.violations, close: () => fake.close() };
    }),
    open: openElevenLabs,
    voice: { voiceId: "voice-1" },
    key: ELEVENLABS_KEY,
  }),
  row<"provider2">({
    name: "Cartesia",
    openVendor: overSockets(async (pace) => {
      const fake = await openFakeCartesia(pace);
      return { baseUrl: fake.baseUrl, problems: fake.violations, close: () => fake.close() };
    }),
    open: openCartesia,
    voice: { voiceId: "voice-1" },
    key: CARTESIA_KEY,
  }),
  row<"provider3">({
    name: "LMNT",
    openVendor: overSockets(openFakeLmnt),
    open: openLmnt,
    voice: { voiceId: "leah" },
    key: LMNT_KEY,
  }),
  row<"provider4">({
    name: "Google",
    openVendor: async (pace) => {
      const fake = await openFakeGoogle({ ...pace, pieceBytes: GOOGLE_PIECE_BYTES });
      return {
        address: { baseUrl: fake.baseUrl, key: fake.key, tokenUrl: fake.tokenUrl },
        problems: fake.problems,
        close: () => fake.close(),
      };
    },
    open: openGoogleTts,
    voice: { voiceId: GOOGLE_VOICES[0] },
    key: "",
  }),
  row<"provider5">({
    name: "Inworld",
    openVendor: overSockets(openFakeInworld),
    open: openInworld,
    voice: { voiceId: "Ashley" },
    key: INWORLD_KEY,
  }),
  row<"provider6">({
    name: "Respeecher",
    openVendor: overSockets(openFakeRespeecher),
    open: openRespeecher,
    voice: { voiceId: "samantha" },
    key: RESPEECHER_KEY,
  }),
];
