/** Reads the text of a file in any common encoding. */

export interface ReadText {
  readonly text: string;
  readonly remark: string | null;
}

/** First bytes of spreadsheet files that are not text. */
const SPREADSHEETS = [
  // ZIP archives: xlsx and ods.
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
] as const;
/** Enough bytes to detect UTF-16. */
const LOOKED_AT_BYTES = 1_024;

/**
 * Files are UTF-8 or UTF-16; anything else is read as Windows-1252, from older spreadsheets.
 * @throws if the file is not text
 */
export function textOf(bytes: ArrayBuffer): ReadText {
  const head = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, LOOKED_AT_BYTES));
  if (SPREADSHEETS.some((beginning) => beginning.every((byte, index) => head[index] === byte))) {
    throw new Error("This is a spreadsheet file, not text. Export it as CSV first.");
  }
  const wide = wideEncodingOf(head);
  if (wide !== null) return { text: new TextDecoder(wide).decode(bytes), remark: null };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), remark: null };
  } catch {
    return {
      text: new TextDecoder("windows-1252").decode(bytes),
      remark:
        "The file is not UTF-8 and was read as Windows-1252. Check that names with accents are correct.",
    };
  }
}

/** "Unicode text" of spreadsheets, with or without a byte order mark; every other byte of Latin letters is 0. */
function wideEncodingOf(head: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Text has no NUL characters. A quarter of all bytes: half of the characters are Latin letters, digits or commas.
  if (Math.max(even, odd) < head.length / 4) return null;
  return odd > even ? "utf-16le" : "utf-16be";
}
