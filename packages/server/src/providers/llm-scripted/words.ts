/** Words and numbers of spoken English, read and written. Pure. */

// prettier-ignore
const ONES = [
  "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
  "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
] as const;
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"] as const;

const VALUES: ReadonlyMap<string, number> = new Map([
  ...ONES.map((word, value) => [word, value] as const),
  ...TENS.flatMap((word, tens) => (word === "" ? [] : [[word, tens * 10] as const])),
]);

/** Longest number in figures that is read as one, up to 999 999. */
const MAX_FIGURES = 6;

/** Lower-case words, numbers and clock times ("7:30") of a text, without accents and punctuation. */
export function toWords(text: string): string[] {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("’", "'")
    .toLowerCase()
    .replaceAll(/\b([ap])\.? ?m\b\.?/g, "$1m");
  return plain.match(/\d+:\d\d|\d+(?:st|nd|rd|th)\b|\d+|[a-z]+(?:'[a-z]+)*/g) ?? [];
}

export interface ReadNumber {
  readonly value: number;
  /** Number of words that it consists of. */
  readonly length: number;
}

/** The number that begins at `at`, from "oh" and "7" to "two thousand and twelve", or null. */
export function readNumber(words: readonly string[], at: number): ReadNumber | null {
  const head = readScaled(words, at, "hundred", 100, readBelowHundred);
  if (head !== null && head.value > 999) return head;
  return readScaled(words, at, "thousand", 1_000, () => head);
}

type Read = (words: readonly string[], at: number) => ReadNumber | null;

/** "three hundred and five": a count, the name of the scale and a rest below the scale; or the count alone. */
function readScaled(
  words: readonly string[],
  at: number,
  name: string,
  scale: number,
  readCount: Read,
): ReadNumber | null {
  const article = words[at] === "a" && words[at + 1] === name ? { value: 1, length: 1 } : null;
  const count = article ?? readCount(words, at);
  if (count === null || words[at + count.length] !== name || count.value === 0) return count;
  const head = { value: count.value * scale, length: count.length + 1 };
  const joint = words[at + head.length] === "and" ? 1 : 0;
  const restAt = at + head.length + joint;
  const rest =
    scale === 100
      ? readBelowHundred(words, restAt)
      : readScaled(words, restAt, "hundred", 100, readBelowHundred);
  if (rest === null || rest.value === 0 || rest.value >= scale) return head;
  return { value: head.value + rest.value, length: head.length + joint + rest.length };
}

function readBelowHundred(words: readonly string[], at: number): ReadNumber | null {
  const word = words[at];
  if (word === undefined) return null;
  if (word === "oh") return { value: 0, length: 1 };
  if (/^\d+$/.test(word) && word.length <= MAX_FIGURES) return { value: Number(word), length: 1 };
  const value = VALUES.get(word);
  if (value === undefined) return null;
  const next = VALUES.get(words[at + 1] ?? "");
  if (value >= 20 && next !== undefined && next >= 1 && next <= 9) return { value: value + next, length: 2 };
  return { value, length: 1 };
}

/** Single digits said one after the other from `at`, at least two, or null. */
export function readDigits(words: readonly string[], at: number): readonly number[] | null {
  const digits: number[] = [];
  for (let i = at; i < words.length; i += 1) {
    const read = readNumber(words, i);
    if (read?.length !== 1 || read.value > 9) break;
    digits.push(read.value);
  }
  return digits.length >= 2 ? digits : null;
}

/** Such as "forty-two"; figures beyond 999 999, and for fractions. */
export function numberInWords(value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 999_999) return String(value);
  if (value < 20) return ONES[value] ?? String(value);
  if (value < 100) {
    const tens = TENS[Math.floor(value / 10)] ?? "";
    return value % 10 === 0 ? tens : `${tens}-${numberInWords(value % 10)}`;
  }
  const [scale, name] = value < 1_000 ? [100, "hundred"] : [1_000, "thousand"];
  const head = `${numberInWords(Math.floor(value / scale))} ${name}`;
  const rest = value % scale;
  if (rest === 0) return head;
  return `${head} ${rest < 100 ? "and " : ""}${numberInWords(rest)}`;
}

/** "a", "a and b", "a, b and c". */
export function listInWords(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;
}

// prettier-ignore
const ORDINALS: readonly string[] = [
  "", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
  "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
  "twentieth",
];

/** A day of a month, 1 to 31: "third", "twenty first", "3rd". */
export function readOrdinal(words: readonly string[], at: number): ReadNumber | null {
  const word = words[at] ?? "";
  const figures = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word);
  if (figures !== null) return inMonth(Number(figures[1]), 1);
  const plain = ORDINALS.indexOf(word);
  if (plain > 0) return { value: plain, length: 1 };
  if (word === "thirtieth") return { value: 30, length: 1 };
  const tens = VALUES.get(word);
  const ones = ORDINALS.indexOf(words[at + 1] ?? "");
  return tens !== undefined && tens >= 20 && ones >= 1 && ones <= 9 ? inMonth(tens + ones, 2) : null;
}

function inMonth(value: number, length: number): ReadNumber | null {
  return value >= 1 && value <= 31 ? { value, length } : null;
}

/** "twelfth", for 1 to 31. */
export function ordinalInWords(value: number): string {
  if (value <= 20) return ORDINALS[value] ?? String(value);
  if (value === 30) return "thirtieth";
  return `${TENS[Math.floor(value / 10)] ?? ""}-${ORDINALS[value % 10] ?? ""}`;
}
