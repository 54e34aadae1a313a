/** JSON documents of an answer as it arrives: one in all, one in each line, or one in each server-sent event. */

import { failed } from "./failure.ts";

/** Limits one document, and so the work at a time: 8 MiB of base64 are two minutes of 24 kHz audio. */
export const MAX_DOCUMENT_CHARS = 8 * 1_024 * 1_024;

/** OpenAI's end of a stream of events. */
const LAST_EVENT = "[DONE]";
/** Fields of server-sent events without data, and comments (HTML standard, section 9.2.6). */
const NO_DATA = /^(?::|event:|id:|retry:)/;

export async function wholeDocument(pieces: AsyncIterable<Uint8Array>): Promise<unknown> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    checkLength(text.length);
  }
  return parsed(text + decoder.decode());
}

/**
 * Lines that begin with `data:` are taken as server-sent events whatever the answer is called. Several such lines
 * before an empty one are one document where they are no documents by themselves.
 */
export async function* documentsByLine(pieces: AsyncIterable<Uint8Array>): AsyncGenerator {
  let event: string[] = [];
  let eventLength = 0;
  const flush = function* (): Generator {
    if (event.length > 0) yield parsed(event.join("\n"));
    event = [];
    eventLength = 0;
  };
  for await (const line of linesOf(pieces)) {
    if (line === "") yield* flush();
    if (line === "" || NO_DATA.test(line)) continue;
    if (!line.startsWith("data:")) {
      yield parsed(line);
      continue;
    }
    const data = line.slice("data:".length).trim();
    if (data === "" || data === LAST_EVENT) continue;
    const document = event.length === 0 ? parsedOrNull(data) : null;
    if (document !== null) {
      yield document;
      continue;
    }
    event.push(data);
    eventLength += data.length;
    checkLength(eventLength);
  }
  yield* flush();
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Joined only when the line is whole: searching a growing text for its end would take quadratic time.
  let held: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const parts = decoder.decode(piece, { stream: true }).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      yield [...held, part].join("").trim();
      held = [];
      length = 0;
    }
    held.push(rest);
    length += rest.length;
    checkLength(length);
  }
  yield [...held, decoder.decode()].join("").trim();
}

function checkLength(length: number): void {
  if (length > MAX_DOCUMENT_CHARS)
    throw failed(`answered JSON of more than ${String(MAX_DOCUMENT_CHARS)} characters`, { type: "too_long" });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What it was is not repeated: it may be long, and may be anything.
    throw failed("answered something that is not JSON", { type: "garbage" });
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
