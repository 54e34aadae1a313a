/** The instructions that carriers fetch: XML with one stream, or with one sentence. */

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

/** Nothing follows the stream, so the call ends with it. */
export function twilioStream(streamUrl: string): string {
  return responseOf(`<Connect><Stream url="${escapeXml(streamUrl)}"/></Connect>`);
}

/** Without the mode `rtp` the carrier drops what is sent to it. */
export function telnyxStream(streamUrl: string): string {
  const attributes = [
    `url="${escapeXml(streamUrl)}"`,
    `track="inbound_track"`,
    `codec="PCMU"`,
    `bidirectionalMode="rtp"`,
    `bidirectionalCodec="PCMU"`,
    `bidirectionalSamplingRate="8000"`,
  ];
  return responseOf(`<Connect><Stream ${attributes.join(" ")}/></Connect>`);
}

/** The carrier's longest stream, which is also its default. */
const PLIVO_STREAM_SECONDS = 86_400;

export function plivoStream(streamUrl: string): string {
  const attributes = [
    `bidirectional="true"`,
    `keepCallAlive="true"`,
    `audioTrack="inbound"`,
    `contentType="audio/x-l16;rate=16000"`,
    `streamTimeout="${PLIVO_STREAM_SECONDS}"`,
  ];
  return responseOf(`<Stream ${attributes.join(" ")}>${escapeXml(streamUrl)}</Stream>`);
}

/** `verb`: the carrier's element that reads a text aloud. */
export function sayAndHangUp(verb: "Say" | "Speak", sentence: string): string {
  return responseOf(`<${verb}>${escapeXml(sentence)}</${verb}><Hangup/>`);
}
