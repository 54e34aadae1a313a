/** A voice of the fake of Google, for tests. */

import type { ProviderSpeech, VoiceProvider } from "../../../ports/voice-provider.ts";
import { openGoogleTts, type GoogleTtsOptions } from "../tts-google.ts";
import { openFakeGoogle, type FakeGoogle, type FakeGoogleOptions } from "./fake-google.ts";

export interface OpenedGoogle {
  readonly fake: FakeGoogle;
  readonly provider: VoiceProvider<"provider4">;
  readonly logged: readonly string[];
  readonly speech: (fields?: Partial<ProviderSpeech<"provider4">>) => ProviderSpeech<"provider4">;
}

const opened: { close(): Promise<void> }[] = [];

/** For the end of each test. */
export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((each) => each.close()));
}

export async function openGoogle(
  fakeOptions: FakeGoogleOptions = {},
  options: Partial<GoogleTtsOptions> = {},
): Promise<OpenedGoogle> {
  const fake = await openFakeGoogle(fakeOptions);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const provider = openGoogleTts({ baseUrl: fake.baseUrl, tokenUrl: fake.tokenUrl, log, ...options });
  opened.push(provider, fake);
  return {
    fake,
    provider,
    logged,
    speech: (fields) => ({
      voice: { voiceId: "en-US-Chirp3-HD-Charon" },
      key: fake.key,
      output: { sampleRateHz: 24_000, encoding: "pcm" },
      language: null,
      text: "Good evening, and welcome.",
      ...fields,
    }),
  };
}
