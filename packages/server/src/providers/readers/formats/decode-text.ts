/** Bytes as text: by the byte order mark, the charset that was named, UTF-8, and else Windows-1252. */

import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";

/** Characters that are looked at: enough to tell, and less than a millisecond. */
const LOOKED_AT_CHARS = 65_536;
/** Text has at most some line feeds of forms among its letters; files of other kinds have ten times this share. */
const MAX_CONTROL_SHARE = 0.01;

/** @throws UnreadableDocument where the bytes are no text, whatever their type says */
export function decodeText(bytes: Uint8Array, charset: string | null): string {
  const text = decoded(bytes, charset);
  if (isText(text)) return text;
  throw new UnreadableDocument("damaged", "The file is not text. Its type may be wrong.");
}

function isText(text: string): boolean {
  const start = text.slice(0, LOOKED_AT_CHARS);
  // A PDF may be all of letters, and no text begins like this.
  if (start.startsWith("%PDF-")) return false;
  const controls = start.match(/[^\P{Cc}\t\n\v\f\r]/gu)?.length ?? 0;
  return controls <= start.length * MAX_CONTROL_SHARE;
}

function decoded(bytes: Uint8Array, charset: string | null): string {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder().decode(bytes);
  const named = charset === null ? null : decoderOf(charset);
  if (named !== null) return named.decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Every byte has a meaning there, so this cannot fail.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** A charset comes from a header or a page, so it may be any text. */
function decoderOf(charset: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(charset.trim());
  } catch {
    return null;
  }
}
