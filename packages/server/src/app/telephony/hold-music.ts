/** Reads the music that callers hear while they are on hold. */

import type { GuardedClient } from "../../net/guarded-fetch.ts";
import { wavSamples } from "../../media/wav-samples.ts";
import type { HoldMusic } from "../../ports/sip/sip-transfers.ts";

/** The caller hears silence until then. */
const FETCH_LIMIT_MS = 10_000;
/** A minute of stereo with 16 bits and 48 kHz. */
const MAX_BYTES = 12 * 1_048_576;
/** Played in a loop. A minute at 16 kHz takes 2 MB for each call on hold. */
const MAX_MUSIC_MS = 60_000;

export async function fetchHoldMusic(
  client: GuardedClient,
  url: string,
  signal: AbortSignal,
): Promise<HoldMusic> {
  const answer = await client.request(
    {
      url,
      method: "GET",
      headers: { accept: "audio/wav, audio/x-wav" },
      body: null,
      timeoutMs: FETCH_LIMIT_MS,
      maxBodyBytes: MAX_BYTES,
    },
    signal,
  );
  if (answer.status !== 200) throw new Error(`the address answers with status ${String(answer.status)}`);
  return wavSamples(answer.body, MAX_MUSIC_MS);
}
