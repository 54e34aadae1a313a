/** Cuts a text for a vendor that limits each message. */

/**
 * Pieces of at most `maxChars` that together are the text: cut after a space where there is one, never inside
 * a surrogate pair.
 */
export function textPieces(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > maxChars) {
    const end = cutBefore(text, start, start + maxChars);
    pieces.push(text.slice(start, end));
    start = end;
  }
  pieces.push(text.slice(start));
  return pieces;
}

function cutBefore(text: string, start: number, limit: number): number {
  for (let end = limit; end > start; end -= 1) if (/\s/.test(text.charAt(end - 1))) return end;
  const splitsPair =
    /[\uDC00-\uDFFF]/.test(text.charAt(limit)) && /[\uD800-\uDBFF]/.test(text.charAt(limit - 1));
  return splitsPair && limit - 1 > start ? limit - 1 : limit;
}
