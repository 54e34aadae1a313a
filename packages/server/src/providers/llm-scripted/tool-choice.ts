/**
 * Tool calls of the scripted model. The caller names a tool by the words of its name ("go forward ten meters" calls
 * `goForward`). Numbers and listed words fill its parameters, and a tool whose required parameters cannot be filled is
 * not called. Results are read out unchanged. This is sufficient to try every kind of tool without a language model.
 */

import type { LlmMessage, LlmTool, LlmToolCall } from "@parley/schema";
import type { LlmRequest } from "../../ports/llm.ts";
import { readNumber, toWords } from "./words.ts";

/** Limit of characters of a result that are read out: two sentences. */
const MAX_READ_OUT_CHARS = 200;
/** Phrases that end a call, in addition to the name of the tool. */
const FAREWELLS = ["goodbye", "bye"];

/** The call that the caller's last words request, or null. */
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

/** The results of the tools that were called since the caller's last words, to be read out; null: there are none. */
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
