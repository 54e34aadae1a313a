/** The assembled service: previews of voices of Google through its adapter, against the fake that refuses what Google refuses. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { parseWavHeader } from "../src/media/wav.ts";
import {
  openFakeGoogle,
  serviceAccount,
  type FakeGoogle,
} from "../src/providers/tts-google/testing/fake-google.ts";
import { openGoogleTts } from "../src/providers/tts-google/tts-google.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

/** Well formed, and of an account that Google does not know. */
const UNKNOWN = serviceAccount({ client_email: "nobody@parley-test.iam.gserviceaccount.com" });
/** The fake speaks a character in 50 ms; the sentences of previews have at least twenty. */
const LEAST_MS = 1_000;

let google: FakeGoogle;
let provider: ReturnType<typeof openGoogleTts>;
let service: RunningService;

beforeAll(async () => {
  google = await openFakeGoogle();
  provider = openGoogleTts({ baseUrl: google.baseUrl, tokenUrl: google.tokenUrl, log: () => undefined });
  const engines = { ...openFaultyEngines(), voiceProviders: { provider4: provider } };
  service = await openRunningService({}, engines, ["refused"]);
  await setKey(google.key, service.key);
  await setKey(UNKNOWN, service.keys.get("refused") ?? "");
});

afterAll(async () => {
  await service.close();
  await provider.close();
  await google.close();
});

async function setKey(provider4: string, account: string): Promise<void> {
  const answer = await service.ask("PATCH", "/api/accounts/me/tts_api_keys", { provider4 }, account);
  expect(answer.status).toBe(200);
}

const preview = (voiceId: string, account?: string) =>
  service.ask(
    "POST",
    "/api/voice_preview",
    { definition: { provider4: { voiceId, speakingRate: 1.1 } }, primaryLanguage: "de" },
    account,
  );

test.each(["de-DE-Chirp3-HD-Kore", "de-DE-Wavenet-B"])("%s can be previewed", async (voiceId) => {
  const before = google.heard.length;
  const sample = await preview(voiceId);
  expect(sample.status).toBe(200);
  const header = parseWavHeader(sample.bytes);
  expect(header).toMatchObject({ sampleRateHz: 24_000, channels: 1 });
  expect(header?.dataBytes).toBeGreaterThan((LEAST_MS * 24_000 * 2) / 1_000);
  const [heard] = google.heard.slice(before);
  expect(heard?.text).toMatch(/^Hallo/);
  expect(heard?.config?.voice ?? heard?.whole?.voice).toEqual({ language_code: "de-DE", name: voiceId });
  expect(heard?.config?.streaming_audio_config ?? heard?.whole?.audio_config).toMatchObject({
    sample_rate_hertz: 24_000,
    speaking_rate: 1.1,
  });
  // The second time the sample is kept.
  expect((await preview(voiceId)).bytes).toEqual(sample.bytes);
  expect(google.heard).toHaveLength(before + 1);
  expect(google.problems).toEqual([]);
});

test("a preview with a key that Google refuses says so, without the key", async () => {
  const refused = await preview("de-DE-Chirp3-HD-Kore", service.keys.get("refused"));
  expect(refused.status).toBe(400);
  expect(refused.body.detail).toMatch(
    /^The voice preview failed: Google refused the service account key with HTTP 400: /,
  );
  const { private_key: secret } = JSON.parse(UNKNOWN) as { readonly private_key: string };
  const said = [JSON.stringify(refused.body), ...service.linesLogged].join("\n");
  for (const line of secret.split("\n").filter((text) => text.length > 20)) expect(said).not.toContain(line);
});
