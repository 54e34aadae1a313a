/** Parses regular expressions that need no backtracking. Back-references and look-around are refused. */

/**
 * `lenient` takes what other engines write too, such as `(?P<name>a)` and `\\-`. `unicode` takes nothing that JavaScript
 * refuses with the flag `u`.
 */
export type PatternSyntax = "lenient" | "unicode";

export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** The largest number in braces; more would exceed the states anyway. */
const MAX_REPEAT = 1_000;

export type Range = readonly [first: number, last: number];

export type PatternNode =
  | { readonly kind: "set"; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly item: PatternNode;
      readonly least: number;
      readonly most: number | null;
    }
  | { readonly kind: "edge"; readonly at: "start" | "end" };

export type SetNode = Extract<PatternNode, { readonly kind: "set" }>;

/** @throws PatternError with what follows the field's name, such as "must not contain a back-reference". */
export function parsePattern(pattern: string, syntax: PatternSyntax): PatternNode {
  return new Parser(pattern, syntax === "unicode").parse();
}

const DIGITS: readonly Range[] = [[48, 57]];
const WORD: readonly Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: readonly Range[] = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = { d: DIGITS, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const LAST_CODE_POINT = 0x10ffff;
/** What JavaScript may escape with the flag `u`; in a class the hyphen too. */
const ESCAPABLE = "^$\\.*+?()[]{}|/";
const QUANTIFIERS: Readonly<Record<string, readonly [number, number | null]>> = {
  "*": [0, null],
  "+": [1, null],
  "?": [0, 1],
};

class Parser {
  readonly #characters: readonly string[];
  readonly #isUnicode: boolean;
  readonly #groupNames = new Set<string>();
  #at = 0;

  constructor(pattern: string, isUnicode: boolean) {
    this.#characters = Array.from(pattern);
    this.#isUnicode = isUnicode;
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#peek() === ")") throw new PatternError("has a ) without a (");
    return node;
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(text: string): boolean {
    if (
      !this.#characters
        .slice(this.#at, this.#at + text.length)
        .join("")
        .startsWith(text)
    )
      return false;
    this.#at += text.length;
    return true;
  }

  #choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: "choice", options };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      items.push(this.#repeated(this.#atom()));
    }
    return { kind: "sequence", items };
  }

  #atom(): PatternNode {
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#class();
    if (this.#take("^")) return { kind: "edge", at: "start" };
    if (this.#take("$")) return { kind: "edge", at: "end" };
    if (this.#take("\\")) return this.#escape("text");
    // As usual, a dot is any character except a line break.
    if (this.#take(".")) {
      return {
        kind: "set",
        negated: true,
        ranges: [
          [10, 10],
          [13, 13],
          [0x2028, 0x2029],
        ],
      };
    }
    const character = this.#characters[this.#at] ?? "";
    if ("*+?{".includes(character))
      throw new PatternError(`has a ${character} with nothing before it to repeat`);
    if ("}]".includes(character))
      throw new PatternError(`has a ${character} on its own; write \\${character}`);
    this.#at += 1;
    return one(character.codePointAt(0) ?? 0);
  }

  #group(): PatternNode {
    if (this.#take("?")) {
      const looks = ["=", "!", "<=", "<!"].some((mark) => this.#take(mark));
      if (looks)
        throw new PatternError("must not contain look-around, which cannot be matched in linear time");
      if (!this.#take(":")) this.#groupName();
    }
    const inner = this.#choice();
    if (!this.#take(")")) throw new PatternError("has a ( without a )");
    return inner;
  }

  #groupName(): void {
    const rest = this.#characters.slice(this.#at).join("");
    const form = this.#isUnicode ? /^<[A-Za-z_]\w*>/ : /^P?<[A-Za-z_]\w*>/;
    const name = form.exec(rest)?.[0];
    if (name === undefined) throw new PatternError("has a (? that starts no known kind of group");
    if (this.#isUnicode && this.#groupNames.has(name)) throw new PatternError("has two groups of one name");
    this.#groupNames.add(name);
    this.#at += name.length;
  }

  #repeated(item: PatternNode): PatternNode {
    const bounds = this.#quantifier();
    if (bounds === null) return item;
    if (this.#isUnicode && item.kind === "edge") throw new PatternError("repeats an anchor");
    // Lazy or not makes no difference to whether the whole text matches.
    this.#take("?");
    if (this.#quantifier() !== null) throw new PatternError("repeats a repetition; put the inner one in ( )");
    const [least, most] = bounds;
    return { kind: "repeat", item, least, most };
  }

  #quantifier(): readonly [number, number | null] | null {
    const known = QUANTIFIERS[this.#peek() ?? ""];
    if (known !== undefined) {
      this.#at += 1;
      return known;
    }
    if (this.#peek() !== "{") return null;
    const found = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.#characters.slice(this.#at).join(""));
    if (found === null) throw new PatternError("has a { that starts no number of repetitions; write \\{");
    this.#at += found[0].length;
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === undefined ? null : Number(found[3]);
    if (Math.max(least, most ?? 0) > MAX_REPEAT)
      throw new PatternError(`repeats more than ${MAX_REPEAT} times`);
    if (most !== null && most < least)
      throw new PatternError("has a maximum of repetitions below its minimum");
    return [least, most];
  }

  #escape(place: "class" | "text"): SetNode {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new PatternError("ends in the middle of an escape");
    this.#at += 1;
    const known = CLASSES[character.toLowerCase()];
    if (known !== undefined)
      return { kind: "set", ranges: known, negated: character !== character.toLowerCase() };
    const control = CONTROLS[character];
    if (control !== undefined) return one(control);
    if (character === "x") return one(this.#hex(2));
    if (character === "u") return one(this.#hex(4));
    if (/[1-9k]/.test(character)) {
      throw new PatternError("must not contain a back-reference, which cannot be matched in linear time");
    }
    const isKnown = this.#isUnicode
      ? ESCAPABLE.includes(character) || (character === "-" && place === "class")
      : !/[A-Za-z0-9]/.test(character);
    if (!isKnown) throw new PatternError(`has the unknown escape \\${character}`);
    return one(character.codePointAt(0) ?? 0);
  }

  #hex(digits: number): number {
    const text = this.#characters.slice(this.#at, this.#at + digits).join("");
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) {
      throw new PatternError(`has an escape without ${digits} hexadecimal digits`);
    }
    this.#at += digits;
    const codePoint = Number.parseInt(text, 16);
    // Two of them together may be one character.
    if (this.#isUnicode && codePoint >= 0xd800 && codePoint <= 0xdfff)
      throw new PatternError("has an escape for half a character");
    return codePoint;
  }

  #class(): PatternNode {
    const negated = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const first = this.#member();
      const [low, high] = first[0] ?? [0, 0];
      const isOne = first.length === 1 && low === high;
      if (!isOne || this.#peek() !== "-" || this.#characters[this.#at + 1] === "]") {
        if (this.#isUnicode && this.#peek() === "-" && this.#characters[this.#at + 1] !== "]")
          throw new PatternError("has a range that begins with a class");
        ranges.push(...first);
        continue;
      }
      this.#at += 1;
      const last = this.#member();
      const [end, same] = last[0] ?? [0, 0];
      if (last.length !== 1 || end !== same || end < low)
        throw new PatternError("has a range that ends before it begins");
      ranges.push([low, end]);
    }
    return { kind: "set", ranges, negated };
  }

  /** One character, or the ranges of a class such as `\d`. */
  #member(): readonly Range[] {
    const character = this.#peek();
    if (character === undefined) throw new PatternError("has a [ without a ]");
    this.#at += 1;
    if (character !== "\\") return one(character.codePointAt(0) ?? 0).ranges;
    const { ranges, negated } = this.#escape("class");
    return negated ? complement(ranges) : ranges;
  }
}

function one(codePoint: number): SetNode {
  return { kind: "set", ranges: [[codePoint, codePoint]], negated: false };
}

/** Takes ranges in ascending order that do not touch. */
function complement(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  let from = 0;
  for (const [first, last] of ranges) {
    if (first > from) result.push([from, first - 1]);
    from = last + 1;
  }
  return [...result, [from, LAST_CODE_POINT]];
}
