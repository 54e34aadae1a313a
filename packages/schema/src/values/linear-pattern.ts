/**
 * Regular expressions that match in linear time: all states at once, one character after the other, without
 * backtracking. Back-references and look-around need backtracking and are refused. Case-sensitive, over code points.
 */

export interface LinearPattern {
  /** Whether the whole text matches. Needs at most `MAX_STATES` steps per character. */
  readonly matches: (text: string) => boolean;
}

export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Limits the work per character; `[0-9]{15}` needs 15 states. */
export const MAX_STATES = 2_000;
/** The largest number in braces; more would exceed the states anyway. */
const MAX_REPEAT = 1_000;

type Range = readonly [first: number, last: number];

type Node =
  | { readonly kind: "set"; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly item: Node; readonly least: number; readonly most: number | null }
  | { readonly kind: "edge"; readonly at: "start" | "end" };

type State =
  | { readonly kind: "read"; readonly set: Node & { kind: "set" } }
  | { readonly kind: "edge"; readonly at: "start" | "end" }
  | { readonly kind: "fork"; first: number; second: number }
  | { readonly kind: "end" };

/** @throws PatternError with what follows the field's name, such as "must not contain a back-reference". */
export function compileLinearPattern(pattern: string): LinearPattern {
  const states: State[] = [];
  compile(new Parser(pattern).parse(), states);
  push(states, { kind: "end" });
  return {
    matches: (text) =>
      matchesWhole(
        states,
        Array.from(text, (character) => character.codePointAt(0) ?? 0),
      ),
  };
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
  [0x2028, 0x2029],
  [0xfeff, 0xfeff],
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = { d: DIGITS, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const LAST_CODE_POINT = 0x10ffff;
const QUANTIFIERS: Readonly<Record<string, readonly [number, number | null]>> = {
  "*": [0, null],
  "+": [1, null],
  "?": [0, 1],
};

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  parse(): Node {
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

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: "choice", options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      items.push(this.#repeated(this.#atom()));
    }
    return { kind: "sequence", items };
  }

  #atom(): Node {
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#class();
    if (this.#take("^")) return { kind: "edge", at: "start" };
    if (this.#take("$")) return { kind: "edge", at: "end" };
    if (this.#take("\\")) return this.#escape();
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

  #group(): Node {
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
    const name = /^P?<[A-Za-z_]\w*>/.exec(rest)?.[0];
    if (name === undefined) throw new PatternError("has a (? that starts no known kind of group");
    this.#at += name.length;
  }

  #repeated(item: Node): Node {
    const bounds = this.#quantifier();
    if (bounds === null) return item;
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

  #escape(): Node & { kind: "set" } {
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
    if (/[A-Za-z0-9]/.test(character)) throw new PatternError(`has the unknown escape \\${character}`);
    return one(character.codePointAt(0) ?? 0);
  }

  #hex(digits: number): number {
    const text = this.#characters.slice(this.#at, this.#at + digits).join("");
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) {
      throw new PatternError(`has an escape without ${digits} hexadecimal digits`);
    }
    this.#at += digits;
    return Number.parseInt(text, 16);
  }

  #class(): Node {
    const negated = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const first = this.#member();
      const [low, high] = first[0] ?? [0, 0];
      const isOne = first.length === 1 && low === high;
      if (!isOne || this.#peek() !== "-" || this.#characters[this.#at + 1] === "]") {
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
    const { ranges, negated } = this.#escape();
    return negated ? complement(ranges) : ranges;
  }
}

function one(codePoint: number): Node & { kind: "set" } {
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

function push<S extends State>(states: State[], state: S): S {
  if (states.length >= MAX_STATES)
    throw new PatternError("is too large once its repetitions are written out");
  states.push(state);
  return state;
}

/** Appends the states of a node, which continue at the state after them. */
function compile(node: Node, states: State[]): void {
  switch (node.kind) {
    case "set":
      push(states, { kind: "read", set: node });
      return;
    case "edge":
      push(states, node);
      return;
    case "sequence":
      for (const item of node.items) compile(item, states);
      return;
    case "choice":
      compileChoice(node.options, states);
      return;
    case "repeat":
      compileRepeat(node, states);
  }
}

function compileChoice(options: readonly Node[], states: State[]): void {
  const leave: { first: number; second: number }[] = [];
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      compile(option, states);
      break;
    }
    const fork = push(states, { kind: "fork", first: states.length + 1, second: 0 });
    compile(option, states);
    leave.push(push(states, { kind: "fork", first: 0, second: 0 }));
    fork.second = states.length;
  }
  for (const jump of leave) jump.first = jump.second = states.length;
}

function compileRepeat({ item, least, most }: Node & { kind: "repeat" }, states: State[]): void {
  for (let count = 0; count < least; count += 1) {
    const before = states.length;
    compile(item, states);
    // An item without states stays empty, however often it is repeated.
    if (states.length === before) break;
  }
  if (most === null) {
    const start = states.length;
    const fork = push(states, { kind: "fork", first: start + 1, second: 0 });
    compile(item, states);
    push(states, { kind: "fork", first: start, second: start });
    fork.second = states.length;
    return;
  }
  const skips: { second: number }[] = [];
  for (let count = least; count < most; count += 1) {
    skips.push(push(states, { kind: "fork", first: states.length + 1, second: 0 }));
    compile(item, states);
  }
  for (const skip of skips) skip.second = states.length;
}

function matchesWhole(states: readonly State[], text: readonly number[]): boolean {
  let live = new Set<number>();
  enter(states, 0, live, 0, text.length);
  for (const [index, codePoint] of text.entries()) {
    const next = new Set<number>();
    for (const at of live) {
      const state = states[at];
      if (state?.kind === "read" && holds(state.set, codePoint))
        enter(states, at + 1, next, index + 1, text.length);
    }
    if (next.size === 0) return false;
    live = next;
  }
  return live.has(states.length - 1);
}

/** Adds all states that are reached from `start` without reading a character. */
function enter(
  states: readonly State[],
  start: number,
  live: Set<number>,
  index: number,
  length: number,
): void {
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (live.has(at)) continue;
    live.add(at);
    const state = states[at];
    if (state?.kind === "fork") waiting.push(state.second, state.first);
    else if (state?.kind === "edge" && index === (state.at === "start" ? 0 : length)) waiting.push(at + 1);
  }
}

function holds({ ranges, negated }: Node & { kind: "set" }, codePoint: number): boolean {
  return ranges.some(([first, last]) => first <= codePoint && codePoint <= last) !== negated;
}
