/** Keys that the user presses on a telephone: gathered into one message of the user. Rules R150 to R154 of SPEC.md. */

import { recordEvent } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import type { DigitsPlan } from "../../plan/plan.ts";
import type { CallState } from "../state.ts";
import type { WantedTimers } from "../timers.ts";
import { noteUserActivity } from "../turn/user-activity.ts";
import { countText, keepUserText, takeUserText } from "./typed-text.ts";

/** Keys of one message; a card number with its expiry date has 23. */
export const DIGITS_MAX = 32;
/** Wait for the next key. */
export const DIGITS_WAIT_MS = 1_000;
/** The key that ends an entry on every telephone. */
const LAST_KEY = "#";

type TextDigits = Extract<DigitsPlan, { readonly kind: "text" }>;

/** During the last words a key is an event and nothing more. */
export function onDigit(draft: Draft, { key }: EventOf<"digitReceived">): void {
  const text = `the user pressed ${key}`;
  recordEvent(draft, { severity: "info", type: "dtmf.received", text, extras: { digit: key } });
  if (draft.state.phase.kind !== "live") return;
  noteUserActivity(draft);
  if (textDigits(draft.state) === null) return;
  const { pressed = 0, gathered = "" } = draft.state.digits ?? {};
  update(draft, { digits: { pressed: pressed + 1, gathered: gathered + key } });
  if (key === LAST_KEY || gathered.length + 1 >= DIGITS_MAX) sendDigits(draft);
}

/** The keys so far are a message. */
export function sendDigits(draft: Draft): void {
  const message = takeGathered(draft);
  if (message === null || !countText(draft, "client")) return;
  takeUserText(draft, message.text, message.urgency, undefined);
}

/** The call is about to end: keys that wait for the next one are recorded, and ask for nothing. */
export function keepDigits(draft: Draft): void {
  const message = takeGathered(draft);
  if (message !== null && message.text.trim() !== "") keepUserText(draft, message.text);
}

function takeGathered(draft: Draft): Pick<TextDigits, "text" | "urgency"> | null {
  const { digits } = draft.state;
  const plan = textDigits(draft.state);
  if (digits === undefined || digits.gathered === "" || plan === null) return null;
  update(draft, { digits: { ...digits, gathered: "" } });
  return { text: plan.text.replaceAll("{digits}", () => digits.gathered), urgency: plan.urgency };
}

/** Null: keys are events only. */
function textDigits({ plan }: CallState): TextDigits | null {
  const digits = plan.medium.digits;
  return digits?.kind === "text" ? digits : null;
}

export function digitTimers({ digits, phase }: CallState): WantedTimers {
  if (digits === undefined || digits.gathered === "" || phase.kind !== "live") return {};
  return { digits: { key: String(digits.pressed), delayMs: DIGITS_WAIT_MS } };
}
