/** Reads the messages of Cartesia. */

import { z } from "zod";
import { EngineFailure, isPermanentStatus } from "../../ports/engine-failure.ts";
import { bounded } from "../sockets/failure-text.ts";
import type { Routed } from "../sockets/socket-protocol.ts";
import type { SpeechMessage } from "../sockets/speech.ts";
import { jsonObject } from "../sockets/vendor-json.ts";
import { VENDOR } from "./requests.ts";

/** Words in one message; the longest text has some hundred. */
const MAX_WORDS = 5_000;

const Message = z.object({
  type: z.string(),
  context_id: z.string().nullish(),
  data: z.string().nullish(),
  done: z.boolean().nullish(),
  status_code: z.number().nullish(),
  // Times of another shape are left out: the audio is worth more than they are.
  word_timestamps: z
    .object({ words: z.array(z.string()).max(MAX_WORDS), start: z.array(z.number()).max(MAX_WORDS) })
    .nullish()
    .catch(null),
  error_code: z.string().nullish(),
  title: z.string().nullish(),
  message: z.string().nullish(),
  /** Of older versions. */
  error: z.string().nullish(),
});
type Message = z.output<typeof Message>;

/** The account cannot pay; as with a wrong key, the next request gets the same answer. */
const PAYMENT_REQUIRED = 402;
/** What the vendor refuses by a code, whatever the status is. */
const PERMANENT_CODE = /^(?:voice|model|language|pronunciation_dict|api_key|quota|plan)_/;

/** Throws for what is no message of Cartesia. */
export function readAnswer(data: string | Uint8Array, secrets: readonly string[]): Routed<SpeechMessage> {
  const parsed = Message.safeParse(jsonObject(data));
  if (!parsed.success) throw new Error("a message of another shape than documented");
  const message = parsed.data;
  const to = message.context_id ?? null;
  // An error may not name its context. All requests of the socket take it as theirs, so that none waits for nothing.
  if (message.type === "error") return { to, message: { failure: failureOf(message, secrets) } };
  if (to === null) return null;
  const { word_timestamps: words } = message;
  return {
    to,
    message: {
      isLast: message.type === "done" || message.done === true,
      ...(message.type === "chunk" && typeof message.data === "string" ? { audio: message.data } : {}),
      ...(words === undefined || words === null
        ? {}
        : {
            // Seconds from the beginning of the context, which is that of the request.
            words: (times) => {
              for (const [index, word] of words.words.entries())
                times.word(word, (words.start[index] ?? Number.NaN) * 1_000);
            },
          }),
    },
  };
}

function failureOf(message: Message, secrets: readonly string[]): EngineFailure {
  const status = message.status_code ?? null;
  const code = message.error_code ?? null;
  const sentence = bounded(message.message ?? message.error ?? message.title ?? code ?? "an error", secrets);
  const isPermanent =
    isPermanentStatus(status) ||
    status === PAYMENT_REQUIRED ||
    (code !== null && status !== 429 && PERMANENT_CODE.test(code));
  return new EngineFailure(`${VENDOR} answered ${status === null ? "" : `${String(status)}: `}${sentence}`, {
    isPermanent,
    type: status === null ? "error" : String(status),
  });
}
