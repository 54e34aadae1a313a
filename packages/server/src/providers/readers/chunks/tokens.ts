/**
 * An estimate of the tokens of a text. Tokenizers of models differ by a third among each other, so a count by one of
 * them would be no more exact, and would need its vocabulary of megabytes.
 */

/** Letters of one token: English words have 4.5 letters and 1.3 tokens on average. */
const LETTERS_PER_TOKEN = 4;

const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const PIECE = /[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}]/gu;
/** Digits of one token. */
const DIGITS_PER_TOKEN = 3;

/** At least 1 for a text with a visible character; the sum of two texts is never less than that of both together. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECE)) tokens += tokensOfPiece(piece);
  return tokens;
}

function tokensOfPiece(piece: string): number {
  if (/^\p{N}/u.test(piece)) return Math.ceil(piece.length / DIGITS_PER_TOKEN);
  if (!/^[\p{L}\p{M}]/u.test(piece)) return 1;
  if (!UNSPACED.test(piece)) return Math.ceil(piece.length / LETTERS_PER_TOKEN);
  // One token for each character of a script without spaces.
  let tokens = 0;
  let letters = 0;
  for (const character of piece) {
    if (UNSPACED.test(character)) tokens += 1;
    else letters += character.length;
  }
  return tokens + Math.ceil(letters / LETTERS_PER_TOKEN);
}
