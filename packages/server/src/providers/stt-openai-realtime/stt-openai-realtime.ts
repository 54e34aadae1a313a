/**
 * A recogniser behind OpenAI's realtime transcription (`/realtime?intent=transcription`): one websocket for each call,
 * 24 kHz audio, and a commit for each request.
 */

import { serverOf } from "../../ports/engine-origin.ts";
import type { SttEngine, SttOptions } from "../../ports/stt.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { LinkListener, RecogniserLink } from "../recogniser-link.ts";
import { openRecogniserSocket } from "../recogniser-socket.ts";
import { openStreamingStt } from "../streaming-stt.ts";
import { RealtimeLink } from "./realtime-link.ts";

export interface OpenAiRealtimeOptions {
  /** With the version, for example `https://api.openai.com/v1`. `http` means a plain websocket. */
  readonly baseUrl: string;
  /** Sent as a bearer token; null for a server that needs none. */
  readonly apiKey: string | null;
  readonly model: string;
  readonly clock?: Pick<Clock, "nowMs" | "after">;
}

/** The prompt of Whisper has 224 tokens; longer hints are cut at a word. */
const PROMPT_MAX_CHARS = 600;
/** Of a server's own message. */
const MESSAGE_MAX_CHARS = 200;

/**
 * Throws on a base URL that is not http(s) or contains a password, an empty model and a key that no header can carry.
 * `initResampler` must have finished before the first call.
 */
export function openOpenAiRealtimeStt(options: OpenAiRealtimeOptions): SttEngine {
  const { baseUrl, apiKey, model, clock = openClock() } = options;
  const url = endpointOf(options);
  const secrets = apiKey === null ? [] : [apiKey];
  const connect = ({ language, hints = [] }: SttOptions, listener: LinkListener): RecogniserLink => {
    const code = languageCodeOf(language);
    const prompt = promptOf(hints);
    const transcription = {
      model,
      ...(code === null ? {} : { language: code }),
      ...(prompt === null ? {} : { prompt }),
    };
    const input = { format: { type: "audio/pcm", rate: 24_000 }, transcription, turn_detection: null };
    return new RealtimeLink({
      open: (events) => {
        const headers: Readonly<Record<string, string>> =
          apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
        return openRecogniserSocket({ vendor: "the recogniser", url, headers, secrets }, events);
      },
      settings: { type: "transcription", audio: { input } },
      listener,
      clock,
      plain: (text) => {
        const line = text.replaceAll(/[\s\p{C}]+/gu, " ").trim();
        return (apiKey === null ? line : line.replaceAll(apiKey, "[key]")).slice(0, MESSAGE_MAX_CHARS);
      },
    });
  };
  const warningsFor = ({ language }: SttOptions): string[] =>
    language === null || languageCodeOf(language) !== null
      ? []
      : [
          `"${language}" is not a language that a speech server knows; the server detects the language itself`,
        ];
  const origin = { model, server: serverOf(baseUrl) };
  return openStreamingStt({ name: "openai-realtime", origin, connect, warningsFor }, { clock });
}

function endpointOf({ baseUrl, apiKey, model }: OpenAiRealtimeOptions): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Error("the recogniser's base URL is not an http or https address");
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("the recogniser's base URL contains a user or a password: set them as the API key");
  }
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error("the recogniser's API key is empty or contains spaces or characters other than ASCII");
  }
  if (model.trim() === "") throw new Error("the recogniser's model has no name");
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/realtime`;
  url.searchParams.set("intent", "transcription");
  return url.href;
}

/** The protocol uses ISO 639-1: the first part of a BCP 47 tag in its shortest form. */
function languageCodeOf(language: string | null): string | null {
  if (language === null) return null;
  try {
    const code = new Intl.Locale(language).language;
    return code !== "und" && /^[a-z]{2,3}$/.test(code) ? code : null;
  } catch {
    return null; // Not a language tag at all: the call is warned.
  }
}

function promptOf(hints: readonly string[]): string | null {
  const taken: string[] = [];
  let chars = 0;
  for (const hint of hints) {
    chars += hint.length + 2;
    if (chars > PROMPT_MAX_CHARS) break;
    taken.push(hint);
  }
  return taken.length === 0 ? null : `These words may occur: ${taken.join(", ")}.`;
}
