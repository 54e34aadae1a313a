/** Sends changed offers, and changed fragments to some of the connections that they get. */

import { readdirSync, readFileSync } from "node:fs";
import type { Draw } from "../../sim/draw.ts";
import { attackFigures, drawOf, type Figures, InputCount } from "./attack-calls.ts";
import type { Captures } from "./captures.ts";
import type { Attack } from "./messages.ts";
import { mutatedSdp } from "./mutate-sdp.ts";
import { remember } from "./recent-inputs.ts";
import type { ServiceRequests } from "./service-requests.ts";

const LANES = 6;
/** Of the connections that are made; a restart is refused after ten for one call. */
const FRAGMENT_SHARE = 0.3;
const MAX_FRAGMENTS = 3;
/** Offers of Chromium, as it makes them and as the client library sends them. */
const FIXTURES = new URL("../../../../fixtures/offers/", import.meta.url);

export function recordedOffers(): readonly string[] {
  return readdirSync(FIXTURES)
    .filter((name) => name.endsWith(".sdp"))
    .map((name) => readFileSync(new URL(name, FIXTURES), "utf8"));
}

export async function attackOffers(
  requests: ServiceRequests,
  captures: Captures,
  attack: Attack,
): Promise<Figures> {
  const figures = attackFigures(attack.inputs);
  const offers = [...captures.offers, ...recordedOffers()];
  let calls = 0;
  const lane = async (index: number): Promise<void> => {
    const draw = drawOf(attack, index);
    const count = InputCount.share(attack.inputs, index, LANES);
    while (!count.isOver) {
      count.take();
      calls += 1;
      const callId = `offer-${String(calls)}`;
      const sdp = mutatedSdp(draw, offers[draw.whole(0, offers.length - 1)] ?? "", offers);
      remember(Buffer.from(sdp));
      const answer = await requests.offer(callId, "offer", sdp);
      if (answer.kind === "refused") continue;
      if (answer.kind !== "answered") throw new Error(`an offer was answered: ${answer.kind}`);
      figures.calls += 1;
      const { connectionId } = answer;
      if (draw.chance(FRAGMENT_SHARE)) await attackRestarts(requests, { callId, connectionId }, draw, count);
      await requests.hangUp(callId, connectionId);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  return figures;
}

async function attackRestarts(
  requests: ServiceRequests,
  { callId, connectionId }: { readonly callId: string; readonly connectionId: string },
  draw: Draw,
  count: InputCount,
): Promise<void> {
  for (let left = draw.whole(1, MAX_FRAGMENTS); left > 0 && !count.isOver; left -= 1) {
    count.take();
    const name = draw.whole(0, 0xff_ffff).toString(36).padStart(4, "0");
    const fragment = `m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=ice-ufrag:${name}\r\na=ice-pwd:${name.padEnd(24, "p")}\r\na=mid:0\r\n`;
    const changed = draw.chance(0.3) ? fragment : mutatedSdp(draw, fragment, [fragment]);
    remember(Buffer.from(changed));
    const patched = await requests.patch(callId, connectionId, changed);
    if (patched.kind === "unknown") throw new Error("the connection of an answered offer is unknown");
  }
}
