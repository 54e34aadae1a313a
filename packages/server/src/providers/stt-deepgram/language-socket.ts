/** A socket to Deepgram in the first of several languages that the model has. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { LinkListener } from "../recogniser-link.ts";
import type { RecogniserSocket, SocketListener } from "../recogniser-socket.ts";

/** What both protocols of Deepgram are opened with. */
export interface DeepgramLinkOptions {
  /** In the order in which they are tried; the last one, null, is the model's default. */
  readonly languages: readonly (string | null)[];
  readonly open: (language: string | null, events: SocketListener) => RecogniserSocket;
  /** The language that Deepgram took, and those that it refused before. */
  readonly chosen: (language: string | null, refused: readonly string[]) => void;
  readonly listener: LinkListener;
  readonly clock: Pick<Clock, "nowMs" | "after">;
}

/** `closed` gets a failure that is permanent where the next request would get it as well. */
export function openInLanguage(
  { languages, open, chosen }: Pick<DeepgramLinkOptions, "languages" | "open" | "chosen">,
  events: SocketListener,
): RecogniserSocket {
  let isReady = false;
  let isClosed = false;
  const dial = (attempt: number): RecogniserSocket => {
    const language = languages[attempt] ?? null;
    return open(language, {
      opened: () => {
        if (isClosed) return;
        isReady = true;
        chosen(
          language,
          languages.slice(0, attempt).filter((one) => one !== null),
        );
        events.opened();
      },
      text: (text) => {
        if (!isClosed) events.text(text);
      },
      closed: (error) => {
        if (isClosed) return;
        // What Deepgram says of a language that the model lacks.
        const isRefused = !isReady && error instanceof EngineFailure && error.type === "400";
        if (isRefused && attempt + 1 < languages.length) socket = dial(attempt + 1);
        else events.closed(asPermanent(error));
      },
    });
  };
  let socket = dial(0);
  return {
    send: (message) => {
      socket.send(message);
    },
    ping: () => {
      socket.ping();
    },
    close: () => {
      isClosed = true;
      socket.close();
    },
  };
}

/** Statuses of a refused upgrade that the next one gets as well: wrong settings, and an account without credit. */
const REFUSALS: readonly (string | null)[] = ["400", "402"];

function asPermanent(error: Error): Error {
  if (!(error instanceof EngineFailure) || !REFUSALS.includes(error.type)) return error;
  return new EngineFailure(error.message, { isPermanent: true, type: error.type });
}
