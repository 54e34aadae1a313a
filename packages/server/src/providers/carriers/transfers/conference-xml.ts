/** The instructions of conferences for two: one participant waits, and the other one begins it. */

import type { Conference } from "../../../ports/carrier-transfers.ts";
import { escapeXml, responseOf } from "../stream-xml.ts";
import { elementOf } from "./transfer-xml.ts";

/** `wait`: the first one, who hears music until the second one comes. */
export type ConferencePlace = "wait" | "begin";

/** Twilio's form, which Telnyx has as well. Both take a sound file for those who wait, and play music without one. */
export function twilioConference(
  { name, endUrl, holdMusicUrl }: Conference,
  place: ConferencePlace,
  longestSeconds: string,
): string {
  const music = place === "wait" ? holdMusicUrl : null;
  const attributes = {
    beep: "false",
    startConferenceOnEnter: place === "begin" ? "true" : "false",
    endConferenceOnExit: "true",
    maxParticipants: "2",
    waitUrl: music,
    // A file is fetched by GET.
    waitMethod: music === null ? null : "GET",
  };
  const dial = { action: endUrl, method: "POST", timeLimit: longestSeconds };
  return responseOf(elementOf("Dial", dial, elementOf("Conference", attributes, escapeXml(name))));
}

/** Those who wait hear what `musicUrl` answers, and silence without it. */
export function plivoConference(
  { name, endUrl, holdMusicUrl, musicUrl }: Conference,
  place: ConferencePlace,
  longestSeconds: string,
): string {
  const attributes = {
    startConferenceOnEnter: place === "begin" ? "true" : "false",
    endConferenceOnExit: "true",
    maxMembers: "2",
    waitSound: place === "wait" && holdMusicUrl !== null ? musicUrl : null,
    action: endUrl,
    method: "POST",
    redirect: "true",
    timeLimit: longestSeconds,
  };
  return responseOf(elementOf("Conference", attributes, escapeXml(name)));
}
