/** Transfers of each carrier, over the requests that its adapter builds. */

import type { CarrierTransfers, RedirectOutcome, TransferTarget } from "../../../ports/carrier-transfers.ts";
import type { CarrierAccount } from "../../../ports/carriers.ts";
import {
  askCarrier,
  secondsOf,
  type AnswerReading,
  type CarrierHttp,
  type CarrierPost,
} from "../carrier-http.ts";
import { plivoConference, twilioConference } from "./conference-xml.ts";
import { endOf, isOver, redirectBy, twilioEnd, twilioProgress } from "./transfer-fields.ts";
import {
  ACCEPTING_KEY,
  isSip,
  NOTHING,
  playing,
  plivoDial,
  plivoQuestion,
  twilioDial,
  twilioQuestion,
} from "./transfer-xml.ts";

/** What an adapter knows: how its REST interface redirects a call, and how its answers are read. */
export interface TransferRest {
  readonly http: CarrierHttp;
  readonly redirection: (account: CarrierAccount, carrierCallId: string, url: string) => CarrierPost;
  readonly readingOf: (account: CarrierAccount) => AnswerReading;
}

function redirecting({ http, redirection, readingOf }: TransferRest): CarrierTransfers["redirect"] {
  return (account, carrierCallId, url, signal): Promise<RedirectOutcome> =>
    redirectBy(() => askCarrier(http, redirection(account, carrierCallId, url), signal), readingOf(account));
}

const RING_SECONDS = { least: 5, most: 120 } as const;
const LONGEST_SECONDS = { least: 60, most: 14_400 } as const;

function secondsIn(callbacks: { readonly ringTimeoutMs: number; readonly maxDurationMs: number }) {
  const { ringTimeoutMs, maxDurationMs } = callbacks;
  return {
    ring: String(secondsOf(ringTimeoutMs, RING_SECONDS.least, RING_SECONDS.most)),
    longest: longestIn({ maxDurationMs }),
  };
}

function longestIn({ maxDurationMs }: { readonly maxDurationMs: number }): string {
  return String(secondsOf(maxDurationMs, LONGEST_SECONDS.least, LONGEST_SECONDS.most));
}

/** Twilio and Telnyx, whose instructions and requests have the same form. */
export function openTwilioTransfers(rest: TransferRest): CarrierTransfers {
  return {
    problemWith: headerProblem,
    playsMusic: false,
    redirect: redirecting(rest),
    dial: (target, callbacks) => twilioDial(target, callbacks, secondsIn(callbacks)),
    readEnd: twilioEnd,
    readProgress: twilioProgress,
    question: twilioQuestion,
    isAccepted: (fields) => fields.get("Digits") === ACCEPTING_KEY,
    accepted: NOTHING,
    hold: (conference) => twilioConference(conference, "wait", longestIn(conference)),
    enter: (conference) => twilioConference(conference, "begin", longestIn(conference)),
    hasHungUp: (fields) => isOver(fields.get("CallStatus")),
    music: playing,
  };
}

/** Other headers would replace those of the carrier. */
function headerProblem({ headers }: TransferTarget): string | null {
  const wrong = Object.keys(headers).find((name) => !/^X-[A-Za-z0-9-]{1,60}$/i.test(name));
  return wrong === undefined
    ? null
    : `extraHeaders may have names such as X-Reason only, and not ${wrong.slice(0, 60)}`;
}

export function openPlivoTransfers(rest: TransferRest): CarrierTransfers {
  return {
    problemWith: ({ address }) =>
      isSip(address) ? "target must be a phone number: transfers over Plivo do not reach SIP URIs" : null,
    playsMusic: true,
    redirect: redirecting(rest),
    dial: (target, callbacks) => plivoDial(target, callbacks, secondsIn(callbacks)),
    readEnd: (fields) =>
      endOf(fields.get("DialStatus"), fields.get("CallStatus"), fields.get("DialBLegDuration")),
    readProgress(fields) {
      const action = fields.get("DialAction")?.toLowerCase();
      if (action === "answer") return "answered";
      return action === "connected" ? "accepted" : null;
    },
    question: plivoQuestion,
    isAccepted: () => false,
    accepted: NOTHING,
    hold: (conference) => plivoConference(conference, "wait", longestIn(conference)),
    enter: (conference) => plivoConference(conference, "begin", longestIn(conference)),
    hasHungUp: (fields) => isOver(fields.get("CallStatus")),
    music: playing,
  };
}
