/**
 * Tools for a model that does not think: the caller names one by the words of its name ("go forward ten meters" calls
 * `goForward`), numbers and listed words fill its parameters, and a tool whose required parameters cannot be filled is
 * not called. What a tool answered is read out as it is. Enough to try every kind of tool without a language model.
 */

import type { LlmMessage, LlmRequest, LlmTool, LlmToolCall } from "../../ports/llm.ts";
import { readNumber, toWords } from "./words.ts";

/** Characters of a result that are read out: two sentences. */
const MAX_READ_OUT_CHARS = 200;
/** Said to end a call as well as the name of the tool. */
const FAREWELLS = ["goodbye", "bye"];

/** The call that the caller's last words ask for, or null. */
export function chooseTool({ messages, tools }: LlmRequest): LlmToolCall | null {
  const last = messages.at(-1);
  if (last?.role !== "user") return null;
  const words = toWords(last.text);
  for (const tool of tools) {
    if (!isNamed(tool, words)) continue;
    const given = argumentsFor(tool, words, last.text);
    if (given !== null)
      return { id: `scripted_${String(messages.length)}`, name: tool.name, arguments: given };
  }
  return null;
}

function isNamed({ name }: LlmTool, words: readonly string[]): boolean {
  const wanted = toWords(name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_-]+/g, " "));
  if (wanted.length === 0) return false;
  if (wanted.join(" ") === "hang up" && words.some((word) => FAREWELLS.includes(word))) return true;
  return words.some((_, at) => wanted.every((word, n) => words[at + n] === word));
}

interface ParameterSchema {
  readonly type?: unknown;
  readonly enum?: unknown;
}

function argumentsFor(
  { parameters }: LlmTool,
  words: readonly string[],
  said: string,
): Record<string, unknown> | null {
  const properties = (parameters["properties"] ?? {}) as Readonly<Record<string, ParameterSchema>>;
  const required = Array.isArray(parameters["required"]) ? parameters["required"] : [];
  const numbers = numbersIn(words);
  const given: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const value = valueFor(schema, words, said, numbers, required.includes(name));
    if (value !== undefined) given[name] = value;
    else if (required.includes(name)) return null;
  }
  return given;
}

function valueFor(
  schema: ParameterSchema,
  words: readonly string[],
  said: string,
  numbers: number[],
  isRequired: boolean,
): unknown {
  if (Array.isArray(schema.enum)) {
    return schema.enum.find((option) => typeof option === "string" && words.includes(option.toLowerCase()));
  }
  if (schema.type === "number" || schema.type === "integer") return numbers.shift();
  if (schema.type === "string" && isRequired) return said;
  return undefined;
}

function numbersIn(words: readonly string[]): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const read = readNumber(words, at);
    if (read === null) continue;
    numbers.push(read.value);
    at += read.length - 1;
  }
  return numbers;
}

/** What the tools that were called since the caller's last words have answered, to be read out; null: none was. */
export function readOut(messages: readonly LlmMessage[]): string | null {
  const results: string[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === "user") break;
    if (message.role === "tool") results.unshift(message.text.trim());
  }
  if (results.length === 0 || messages.at(-1)?.role !== "tool") return null;
  const sentences = results.map((result) => (result === "" || result === "OK" ? "Done." : result));
  return sentences.join(" ").slice(0, MAX_READ_OUT_CHARS);
}
