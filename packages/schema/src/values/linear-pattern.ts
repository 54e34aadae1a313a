/**
 * Regular expressions that match in linear time: all states at once, one character after the other, without
 * backtracking. Back-references and look-around need backtracking and are refused. Case-sensitive, over code points.
 */

import {
  parsePattern,
  PatternError,
  type PatternNode,
  type PatternSyntax,
  type SetNode,
} from "./pattern-syntax.ts";

export interface LinearPattern {
  /** Whether the whole text matches. */
  readonly matches: (text: string) => boolean;
  /** Whether the text has a part that matches, like `test` of an ordinary regular expression. */
  readonly isIn: (text: string) => boolean;
  /** Limit of the steps per character, of some 80 ns each. */
  readonly steps: number;
}

/** Limits the work per character; `[0-9]{15}` needs 15 states. */
export const MAX_STATES = 2_000;

type State =
  | { readonly kind: "read"; readonly holds: (codePoint: number) => boolean }
  | { readonly kind: "edge"; readonly at: "start" | "end" }
  | { readonly kind: "fork"; first: number; second: number }
  | { readonly kind: "end" };

/** @throws PatternError with what follows the field's name, such as "must not contain a back-reference". */
export function compileLinearPattern(pattern: string, syntax: PatternSyntax = "lenient"): LinearPattern {
  const states: State[] = [];
  const root = parsePattern(pattern, syntax);
  compile(root, states);
  push(states, { kind: "end" });
  return {
    matches: (text) => runOver(states, text, "whole"),
    isIn: (text) => runOver(states, text, "part"),
    steps: states.length + rangesOf(root),
  };
}

/** A character outside of ASCII is compared with all ranges of a set. */
function rangesOf(node: PatternNode): number {
  switch (node.kind) {
    case "set":
      return node.ranges.length;
    case "sequence":
      return node.items.reduce((sum, item) => sum + rangesOf(item), 0);
    case "choice":
      return node.options.reduce((sum, option) => sum + rangesOf(option), 0);
    case "repeat":
      return rangesOf(node.item) * Math.max(1, node.least, node.most ?? 0);
    case "edge":
    default:
      return 0;
  }
}

function push<S extends State>(states: State[], state: S): S {
  if (states.length >= MAX_STATES)
    throw new PatternError("is too large once its repetitions are written out");
  states.push(state);
  return state;
}

/** Appends the states of a node, which continue at the state after them. */
function compile(node: PatternNode, states: State[]): void {
  switch (node.kind) {
    case "set":
      push(states, { kind: "read", holds: membershipOf(node) });
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

function compileChoice(options: readonly PatternNode[], states: State[]): void {
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

function compileRepeat(
  { item, least, most }: Extract<PatternNode, { kind: "repeat" }>,
  states: State[],
): void {
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

/** States without order or repetition. Cleared in one step. */
class StateSet {
  readonly members: Int32Array;
  size = 0;
  /** For each state, the round in which it was added last. */
  readonly #addedIn: Int32Array;
  #round = 1;

  constructor(states: number) {
    this.members = new Int32Array(states);
    this.#addedIn = new Int32Array(states);
  }

  has(state: number): boolean {
    return this.#addedIn[state] === this.#round;
  }

  add(state: number): void {
    this.#addedIn[state] = this.#round;
    this.members[this.size] = state;
    this.size += 1;
  }

  clear(): void {
    this.size = 0;
    this.#round += 1;
  }
}

function runOver(states: readonly State[], text: string, wanted: "whole" | "part"): boolean {
  const last = states.length - 1;
  let live = new StateSet(states.length);
  let next = new StateSet(states.length);
  for (let index = 0; ;) {
    if (index === 0 || wanted === "part") enter(states, 0, live, index, text.length);
    if (wanted === "part" && live.has(last)) return true;
    const codePoint = text.codePointAt(index);
    if (codePoint === undefined) return live.has(last);
    if (live.size === 0) return false;
    index += codePoint > 0xffff ? 2 : 1;
    for (const at of live.members.subarray(0, live.size)) {
      const state = states[at];
      if (state?.kind === "read" && state.holds(codePoint)) enter(states, at + 1, next, index, text.length);
    }
    [live, next] = [next, live];
    next.clear();
  }
}

/** Adds all states that are reached from `start` without reading a character. */
function enter(states: readonly State[], start: number, live: StateSet, index: number, length: number): void {
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (live.has(at)) continue;
    live.add(at);
    const state = states[at];
    if (state?.kind === "fork") waiting.push(state.second, state.first);
    else if (state?.kind === "edge" && index === (state.at === "start" ? 0 : length)) waiting.push(at + 1);
  }
}

const ASCII = 128;

/** A set that is repeated has one state for each repetition, and one table for all of them. */
const known = new WeakMap<SetNode, (codePoint: number) => boolean>();

function membershipOf(set: SetNode): (codePoint: number) => boolean {
  const holds = known.get(set) ?? membership(set);
  known.set(set, holds);
  return holds;
}

function membership({ ranges, negated }: SetNode): (codePoint: number) => boolean {
  const compare = (codePoint: number): boolean =>
    ranges.some(([first, last]) => first <= codePoint && codePoint <= last) !== negated;
  if (ranges.length === 1) return compare;
  const table = Array.from({ length: ASCII }, (_, codePoint) => compare(codePoint));
  return (codePoint) => table[codePoint] ?? compare(codePoint);
}
