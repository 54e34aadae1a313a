/** The instructions of transfers: XML that dials, asks the called person, and plays music. */

import type { Question, TransferCallbacks, TransferTarget } from "../../../ports/carrier-transfers.ts";
import { escapeXml, responseOf } from "../stream-xml.ts";

/** The key that takes the call. */
export const ACCEPTING_KEY = "1";
/** Wait for the key after the question. */
const KEY_SECONDS = 15;

export const NOTHING = responseOf("");

/** Null leaves an attribute out. */
export type Attributes = Readonly<Record<string, string | null>>;

export function elementOf(name: string, attributes: Attributes, content: string): string {
  const listed = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${escapeXml(value)}"`],
  );
  return `<${name}${listed.join("")}>${content}</${name}>`;
}

export function isSip(address: string): boolean {
  return /^sips?:/i.test(address);
}

/** Twilio's form, which Telnyx has as well. `seconds`: the bounds of the carrier. */
export function twilioDial(
  target: TransferTarget,
  callbacks: TransferCallbacks,
  seconds: { readonly ring: string; readonly longest: string },
): string {
  const { address, callerId, username, password, headers } = target;
  const { endUrl, progressUrl, questionUrl } = callbacks;
  const attributes = {
    ...(isSip(address) ? { username, password } : {}),
    url: questionUrl,
    method: questionUrl === null ? null : "POST",
    statusCallback: progressUrl,
    statusCallbackEvent: "answered completed",
    statusCallbackMethod: "POST",
  };
  const noun = isSip(address)
    ? elementOf("Sip", attributes, escapeXml(withHeaders(address, headers)))
    : elementOf("Number", attributes, escapeXml(address));
  const dial = {
    action: endUrl,
    method: "POST",
    timeout: seconds.ring,
    timeLimit: seconds.longest,
    callerId,
  };
  return responseOf(elementOf("Dial", dial, noun));
}

/** Both carriers take headers of their request over SIP from the URI. */
function withHeaders(address: string, headers: Readonly<Record<string, string>>): string {
  const query = Object.entries(headers).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  if (query.length === 0) return address;
  return `${address}${address.includes("?") ? "&" : "?"}${query.join("&")}`;
}

export function twilioQuestion({ text, language, answerUrl }: Question): string {
  const attributes = {
    action: answerUrl,
    method: "POST",
    numDigits: "1",
    timeout: String(KEY_SECONDS),
  };
  const say = elementOf("Say", { language }, escapeXml(text));
  return responseOf(`${elementOf("Gather", attributes, say)}<Hangup/>`);
}

export function playing(url: string, repeats = false): string {
  return responseOf(elementOf("Play", { loop: repeats ? "0" : null }, escapeXml(url)));
}

export function plivoDial(
  { address, callerId }: TransferTarget,
  { endUrl, progressUrl, questionUrl, musicUrl }: TransferCallbacks,
  seconds: { readonly ring: string; readonly longest: string },
): string {
  const isAsked = questionUrl !== null;
  const attributes = {
    action: endUrl,
    method: "POST",
    redirect: "true",
    timeout: seconds.ring,
    timeLimit: seconds.longest,
    callerId,
    callbackUrl: progressUrl,
    callbackMethod: "POST",
    confirmSound: questionUrl,
    confirmKey: isAsked ? ACCEPTING_KEY : null,
    confirmTimeout: isAsked ? String(KEY_SECONDS * 2) : null,
    dialMusic: musicUrl,
  };
  return responseOf(elementOf("Dial", attributes, elementOf("Number", {}, escapeXml(address))));
}

/** The carrier checks the key by itself. */
export function plivoQuestion({ text, language }: Question): string {
  return responseOf(elementOf("Speak", { language }, escapeXml(text)));
}
