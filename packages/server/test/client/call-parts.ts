/** Shared parts of the tests of calls from pages. */

import { expect } from "vitest";
import type { Transcript } from "../../../client/src/call/transcripts.ts";
import type { RunningService } from "../running-service.ts";
import type { CallerPage, Pages } from "./pages.ts";
import type { UdpRelays } from "./udp-relays.ts";

/** 24 s by the quick voice: longer than a busy machine takes from the join to the first words from the microphone. */
export const LONG = Array.from({ length: 240 }, (_, i) => `Word${String(i)}`).join(" ");

/** The agent says this immediately, ten words a second. */
export const opening = (text: string) => ({ firstSpeakerSettings: { agent: { text } }, voice: "quick" });

export interface JoinedPage {
  readonly caller: CallerPage;
  readonly callId: string;
  readonly joinUrl: string;
}

/** @param options of `joinCall`, as a script */
export async function joinByPage(
  service: RunningService,
  pages: Pages,
  settings: object,
  options?: string,
  relays?: UdpRelays,
): Promise<JoinedPage> {
  const { callId, joinUrl } = await service.makeCall(settings);
  const caller = await pages.open("/", relays);
  expect(await caller.join(joinUrl, options)).toBe("joined");
  return { caller, callId, joinUrl };
}

/** The final utterances of one side. */
export async function finals(caller: CallerPage, role: string): Promise<readonly Transcript[]> {
  return (await caller.run<Transcript[]>("call.transcripts")).filter((one) => one.final && one.role === role);
}
