/** Who phones whom in a call over a carrier or SIP. */

import type { Call } from "@parley/schema";
import type { Tone } from "../../../ui/display.tsx";
import { mediumOf, statusOf } from "../call-words.ts";

export type Direction = "outgoing" | "incoming";

export interface PhoneFacts {
  /** For people. */
  readonly carrier: string;
  /** Null: a program of the account connected the call with its join URL. */
  readonly direction: Direction | null;
  readonly from: string | null;
  readonly to: string | null;
  /** The carrier's id of a call that came in. */
  readonly carrierCallId: string | null;
}

/** Neutral names and those of the carriers, which the API may be set to use. */
const PHONE_MEDIA: ReadonlySet<string> = new Set(
  "telephony1 telephony2 telephony3 telephony4 sip twilio telnyx plivo exotel".split(" "),
);

/** Null: not a phone call. */
export function phoneFactsOf(call: Pick<Call, "medium" | "requestContext">): PhoneFacts | null {
  const [kind = "", settings] = Object.entries(call.medium)[0] ?? [];
  if (!PHONE_MEDIA.has(kind)) return null;
  const carrier = mediumOf(call);
  const outgoing = within(settings, "outgoing");
  if (outgoing !== null) {
    const { from, to } = { from: textIn(outgoing, "from"), to: textIn(outgoing, "to") };
    return { carrier, direction: "outgoing", from, to, carrierCallId: null };
  }
  const request = requestOf(call.requestContext);
  if (request === null) return { carrier, direction: null, from: null, to: null, carrierCallId: null };
  return {
    carrier,
    direction: "incoming",
    // SIP names addresses, carriers numbers.
    from: textIn(request, "From") ?? textIn(request, "fromUri"),
    to: textIn(request, "To") ?? textIn(request, "toUri"),
    carrierCallId: textIn(request, "CallSid") ?? textIn(request, "CallUUID"),
  };
}

const DIRECTIONS: Readonly<Record<Direction, string>> = {
  outgoing: "Outgoing",
  incoming: "Incoming",
};

export function directionText({ direction }: Pick<PhoneFacts, "direction">): string {
  return direction === null ? "Connected by your program" : DIRECTIONS[direction];
}

/** The medium, for phone calls with their direction. */
export function mediumText(call: Pick<Call, "medium" | "requestContext">): string {
  const facts = phoneFactsOf(call);
  if (facts === null || facts.direction === null) return mediumOf(call);
  return `${facts.carrier}, ${DIRECTIONS[facts.direction].toLowerCase()}`;
}

type StatusFields = Pick<Call, "medium" | "requestContext" | "joined" | "ended" | "endReason">;

/** The status of a call. Before the join of a call that the service dials, the phone rings. */
export function phoneStatusOf(call: StatusFields): { readonly text: string; readonly tone: Tone } {
  const status = statusOf(call);
  if (call.joined !== null || phoneFactsOf(call)?.direction !== "outgoing") return status;
  if (call.endReason === "unjoined") return { ...status, text: "Not connected" };
  return call.ended === null ? { text: "Calling", tone: "agent" } : status;
}

/** The fields of the carrier's request are under the name of the carrier. */
function requestOf(context: Call["requestContext"]): object | null {
  const [request] = Object.values(context ?? {});
  return typeof request === "object" && request !== null ? request : null;
}

function within(parent: unknown, name: string): object | null {
  if (typeof parent !== "object" || parent === null) return null;
  const child: unknown = Reflect.get(parent, name);
  return typeof child === "object" && child !== null ? child : null;
}

function textIn(parent: object, name: string): string | null {
  const text: unknown = Reflect.get(parent, name);
  return typeof text === "string" && text !== "" ? text : null;
}
