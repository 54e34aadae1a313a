/**
 * The instructions that carriers fetch: XML with one stream, with one sentence, or with the end of the call. What follows
 * a stream asks for the next instructions, so a call outlives a stream that breaks.
 */

import type { StreamIntent } from "../../ports/carriers.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

export function escapeXml(text: string): string {
  return (
    text
      .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "")
      // XML 1.0 cannot contain other control characters.
      .replaceAll(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, "")
  );
}

export function responseOf(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${content}</Response>`;
}

/** Ends the call without a word. */
export const HANG_UP_XML = responseOf("<Hangup/>");

/** `pause`: the carrier's element that is silent for a time. */
function returning(
  pause: "Pause" | "Wait",
  stream: string,
  { returnUrl, pauseSeconds }: StreamIntent,
): string {
  const before = pauseSeconds === 0 ? "" : `<${pause} length="${pauseSeconds}"/>`;
  return responseOf(`${before}${stream}<Redirect method="POST">${escapeXml(returnUrl)}</Redirect>`);
}

export function twilioStream(stream: StreamIntent): string {
  return returning("Pause", `<Connect><Stream url="${escapeXml(stream.streamUrl)}"/></Connect>`, stream);
}

/** Without the mode `rtp` the carrier drops what is sent to it. */
export function telnyxStream(stream: StreamIntent): string {
  const attributes = [
    `url="${escapeXml(stream.streamUrl)}"`,
    `track="inbound_track"`,
    `codec="PCMU"`,
    `bidirectionalMode="rtp"`,
    `bidirectionalCodec="PCMU"`,
    `bidirectionalSamplingRate="8000"`,
  ];
  return returning("Pause", `<Connect><Stream ${attributes.join(" ")}/></Connect>`, stream);
}

/** The carrier's longest stream, which is also its default. */
const PLIVO_STREAM_SECONDS = 86_400;

export function plivoStream(stream: StreamIntent): string {
  const attributes = [
    `bidirectional="true"`,
    `keepCallAlive="true"`,
    `audioTrack="inbound"`,
    `contentType="audio/x-l16;rate=16000"`,
    `streamTimeout="${PLIVO_STREAM_SECONDS}"`,
  ];
  const element = `<Stream ${attributes.join(" ")}>${escapeXml(stream.streamUrl)}</Stream>`;
  return returning("Wait", element, stream);
}

/** `verb`: the carrier's element that reads a text aloud. */
export function sayAndHangUp(verb: "Say" | "Speak", sentence: string): string {
  return responseOf(`<${verb}>${escapeXml(sentence)}</${verb}><Hangup/>`);
}
