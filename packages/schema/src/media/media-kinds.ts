/** What each medium can do. Every place that treats media differently reads this table. */

import type { MediumKind } from "./call-medium.ts";

export interface MediumTraits {
  /** A client or a carrier joins calls over it by their URL. */
  readonly joinable: boolean;
  /** Its segment in join URLs; null: it is never joined by a URL. */
  readonly path: string | null;
  /** The other side of its websocket is a telephone carrier, with messages of its own. */
  readonly isCarrier: boolean;
  /** Usual sample rates, in Hz, which what the carrier announces replaces; null: the request or the codec names them. */
  readonly rates: { readonly inputHz: number; readonly outputHz: number } | null;
  /** How audio is played at the other end. `mulaw`: as 8 kHz G.711, so that a voice may be rendered in that form. */
  readonly encoding: "pcm" | "mulaw";
  /** How far ahead of real time audio is sent, in ms; null: the request or the transport names it. */
  readonly aheadMs: number | null;
  /** The client gets data messages. */
  readonly hasDataChannel: boolean;
  /** A request may ask the service to dial. */
  readonly outgoing: boolean;
}

/** Of the carriers' streams (D121): a mark is answered within this, and an interruption has no more to clear. */
const CARRIER_AHEAD_MS = 200;

const CARRIER = {
  joinable: true,
  isCarrier: true,
  encoding: "pcm",
  aheadMs: CARRIER_AHEAD_MS,
  hasDataChannel: false,
  outgoing: true,
} as const;

const EIGHT_KHZ = { inputHz: 8_000, outputHz: 8_000 } as const;

export const MEDIUM_TRAITS = {
  webRtc: {
    joinable: true,
    path: "web_rtc",
    isCarrier: false,
    rates: null,
    encoding: "pcm",
    aheadMs: null,
    hasDataChannel: true,
    outgoing: false,
  },
  telephony1: { ...CARRIER, path: "telephony1", rates: EIGHT_KHZ, encoding: "mulaw" },
  serverWebSocket: {
    joinable: true,
    path: "server_web_socket",
    isCarrier: false,
    rates: null,
    encoding: "pcm",
    aheadMs: null,
    hasDataChannel: true,
    outgoing: false,
  },
  telephony2: { ...CARRIER, path: "telephony2", rates: EIGHT_KHZ, encoding: "mulaw" },
  telephony3: { ...CARRIER, path: "telephony3", rates: { inputHz: 16_000, outputHz: 16_000 } },
  // It takes messages of 200 ms at 8 kHz, so it needs one and a half of them.
  telephony4: { ...CARRIER, path: "telephony4", rates: EIGHT_KHZ, aheadMs: 300, outgoing: false },
  sip: {
    joinable: false,
    path: null,
    isCarrier: false,
    rates: null,
    encoding: "pcm",
    aheadMs: null,
    hasDataChannel: false,
    outgoing: true,
  },
} as const satisfies Readonly<Record<MediumKind, MediumTraits>>;

export type CarrierKind = "telephony1" | "telephony2" | "telephony3" | "telephony4";
export const CARRIER_KINDS = [
  "telephony1",
  "telephony2",
  "telephony3",
  "telephony4",
] as const satisfies readonly CarrierKind[];

export function traitsOf(kind: MediumKind): MediumTraits {
  return MEDIUM_TRAITS[kind];
}

export function isCarrierKind(kind: string): kind is CarrierKind {
  return CARRIER_KINDS.some((carrier) => carrier === kind);
}

/** The segment of a medium in join URLs; null where it has none, and for texts that name no medium. */
export function pathOfMedium(kind: string): string | null {
  const known: Readonly<Record<string, MediumTraits>> = MEDIUM_TRAITS;
  return Object.hasOwn(known, kind) ? (known[kind]?.path ?? null) : null;
}
