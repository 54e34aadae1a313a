/**
 * A recogniser behind Deepgram's live transcription: one websocket for each call, and early text. Models of `/v1/listen`
 * get a `Finalize` for each request; Flux models, at `/v2/listen`, report the ends of turns.
 */

import { serverOf } from "../../ports/engine-origin.ts";
import type { SttEngine, SttOptions } from "../../ports/stt.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { LinkListener, RecogniserLink } from "../recogniser-link.ts";
import { openRecogniserSocket, type RecogniserSocket, type SocketListener } from "../recogniser-socket.ts";
import { openStreamingStt } from "../streaming-stt.ts";
import { DeepgramLink } from "./deepgram-link.ts";
import { FluxLink } from "./flux-link.ts";
import { fluxUrl, hintsThatFit, listenUrl } from "./listen-url.ts";

export const DEEPGRAM_BASE_URL = "https://api.deepgram.com";
export const DEEPGRAM_MODEL = "nova-3";

export interface DeepgramOptions {
  /** Without `/v1`. `http` means a plain websocket. */
  readonly baseUrl: string;
  /** Null: a server of the operator's own that asks for none. */
  readonly apiKey: string | null;
  readonly model: string;
  /**
   * Silence after which Deepgram tells the end of the speech, in ms, which is an opinion about the end of the turn: 1,000
   * to 5,000. Default 0: it is not asked.
   */
  readonly endOfTurnMs?: number;
  readonly clock?: Pick<Clock, "nowMs" | "after">;
}

/** Languages that the model was found to lack; beyond this many, the oldest is forgotten. */
const LACKING_MAX = 200;

/** One line for the operator: model and address, never the key. */
export function describeDeepgram({ baseUrl, model }: Pick<DeepgramOptions, "baseUrl" | "model">): string {
  return `Deepgram ${model} at ${new URL(baseUrl).origin}`;
}

/** Throws on a base URL with a password, a model of another protocol and a key that no header can carry. */
export function openDeepgramStt(options: DeepgramOptions): SttEngine {
  check(options);
  const { baseUrl, apiKey, model, endOfTurnMs = 0, clock = openClock() } = options;
  const lacking = new Set<string>();
  const warned = new WeakSet<SttOptions>();
  const connect = (call: SttOptions, listener: LinkListener): RecogniserLink => {
    const { language, hints = [] } = call;
    const isFlux = isFluxModel(model);
    const possible = isFlux ? hintsFor(model, language) : languagesFor(language);
    const link = {
      languages: possible.filter((one) => one === null || !lacking.has(one)),
      open: (spoken: string | null, events: SocketListener): RecogniserSocket => {
        const asked = { baseUrl, model, language: spoken, hints, endOfTurnMs };
        const request = {
          vendor: "Deepgram",
          url: isFlux ? fluxUrl(asked) : listenUrl(asked),
          headers: apiKey === null ? {} : { authorization: `Token ${apiKey}` },
          secrets: apiKey === null ? [] : [apiKey],
        };
        return openRecogniserSocket(request, events);
      },
      chosen: (spoken: string | null, refused: readonly string[]): void => {
        for (const lacked of refused) remember(lacking, lacked);
        if (language === null || spoken !== null || warned.has(call)) return;
        if (isFlux && isEnglishOnly(model) && primaryOf(language) === "en") return;
        warned.add(call);
        listener.warned(`Deepgram ${model} does not know the language "${language}"; it uses its default`);
      },
      listener,
      clock,
    };
    return isFlux ? new FluxLink({ ...link, judges: endOfTurnMs > 0 }) : new DeepgramLink(link);
  };
  const warningsFor = ({ hints = [] }: SttOptions): string[] => {
    const count = hintsThatFit(model, hints);
    return count === hints.length
      ? []
      : [`Deepgram uses only ${String(count)} of the ${String(hints.length)} transcript hints`];
  };
  const origin = { model, server: serverOf(baseUrl) };
  return openStreamingStt({ name: "deepgram", origin, connect, warningsFor }, { clock });
}

function remember(lacking: Set<string>, language: string): void {
  lacking.add(language);
  const [oldest] = lacking;
  if (lacking.size > LACKING_MAX && oldest !== undefined) lacking.delete(oldest);
}

/** In the order in which they are tried: the tag, its language alone, the model's default. */
function languagesFor(language: string | null): (string | null)[] {
  if (language === null) return [null];
  try {
    const locale = new Intl.Locale(language);
    return [...new Set([locale.baseName, locale.language]), null];
  } catch {
    return [null]; // Not a language tag at all: the call is warned.
  }
}

/** Flux models have a protocol of their own. */
export function isFluxModel(model: string): boolean {
  return /^flux/i.test(model);
}

/** `flux-general-en` has no choice of languages. */
function isEnglishOnly(model: string): boolean {
  return /-en$/i.test(model);
}

/** Flux takes languages without their regions, as hints for its multilingual model. */
function hintsFor(model: string, language: string | null): (string | null)[] {
  const primary = language === null ? null : primaryOf(language);
  return primary === null || isEnglishOnly(model) ? [null] : [primary, null];
}

/** Null: not a language tag. */
function primaryOf(language: string): string | null {
  return languagesFor(language).at(-2) ?? null;
}

function check({ baseUrl, apiKey, model, endOfTurnMs = 0 }: DeepgramOptions): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Error("Deepgram's base URL is not an http or https address");
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("Deepgram's base URL contains a user or a password: set them as the API key");
  }
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error("Deepgram's API key is empty or contains spaces or characters other than ASCII");
  }
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(model)) throw new Error("Deepgram's model has no name");
  if (endOfTurnMs !== 0 && !(endOfTurnMs >= 1_000 && endOfTurnMs <= 5_000)) {
    throw new Error("Deepgram's wait for the end of a turn is neither 0 nor 1,000 to 5,000 ms");
  }
}
