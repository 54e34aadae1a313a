/** Builds the request of one invocation: the place of each value, and its form (D140, D142, D146). Pure. */

import type { HeaderPrefix } from "@parley/schema";
import { isFramingHeader } from "../../net/guarded-fetch.ts";
import type { ToolTarget, ToolValue } from "../../ports/tool-invoker.ts";

export type HttpTarget = Extract<ToolTarget, { readonly kind: "http" }>;

export interface ToolRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** A value cannot be sent as the tool requires; the message is the end of a sentence that the model sees. */
export class UnusableValue extends Error {
  override readonly name = "UnusableValue";
}

/**
 * Limit of bytes of a body: the longest conversation history with its times (400,000 characters) fits several times.
 */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Limit of all headers of a request, as most servers have it. */
const MAX_HEADER_CHARS = 16_384;

const PLACEHOLDER = /\{([^{}]+)\}/g;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Control characters, and characters beyond Latin-1. */
const NOT_IN_A_HEADER = /[^\t\u0020-\u007e\u0080-\u00ff]/;
/** @throws UnusableValue */
export function toolRequest(
  target: HttpTarget,
  values: readonly ToolValue[],
  invocationId: string | null,
  prefix: HeaderPrefix = "X-Service-",
): ToolRequest {
  const at = (location: ToolValue["location"]) => values.filter((value) => value.location === location);
  const url = urlOf(target.urlPattern, at("path"));
  for (const { name, value } of at("query")) {
    for (const text of queryTexts(value)) url.searchParams.append(name, text);
  }
  const headers = new Map<string, string>([["accept", "*/*"]]);
  const body = at("body");
  if (body.length > 0) headers.set("content-type", "application/json");
  for (const { name, value } of at("header")) {
    if (value !== null) headers.set(headerName(name), headerText(name, value));
  }
  for (const { place, name, value } of target.credentials) {
    if (place === "query") url.searchParams.set(name, value);
    else headers.set(headerName(name), headerText(name, value));
  }
  const own = prefix.toLowerCase();
  if (target.callToken !== null) headers.set(`${own}call-token`, target.callToken);
  if (invocationId !== null) headers.set(`${own}invocation-id`, invocationId);
  const length = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (length > MAX_HEADER_CHARS) throw new UnusableValue("the headers are too long");
  return {
    url: url.href,
    method: target.method,
    headers: Object.fromEntries(headers),
    body: body.length === 0 ? null : bodyText(body),
  };
}

function urlOf(pattern: string, values: readonly ToolValue[]): URL {
  const filled = pattern.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = values.find((candidate) => candidate.name === name)?.value ?? null;
    if (value === null || value === "") throw new UnusableValue(`the parameter ${name} is missing`);
    if (typeof value === "object") throw new UnusableValue(`the parameter ${name} must be a single value`);
    const text = scalarText(value);
    if (!text.isWellFormed()) throw new UnusableValue(`the parameter ${name} is not a text`);
    return encodeURIComponent(text);
  });
  const [, path = ""] = /^https?:\/\/[^/]*(.*)$/i.exec(filled) ?? [];
  // A value must not change the rest of the path, and URL parsers decode an encoded dot.
  if (path.split("/").some((segment) => DOT_SEGMENT.test(segment))) {
    throw new UnusableValue("a path parameter must not be . or ..");
  }
  if (!URL.canParse(filled)) throw new UnusableValue("the parameters make no URL");
  return new URL(filled);
}

function scalarText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function queryTexts(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) {
    return value.filter((element) => element !== null && element !== undefined).map(scalarText);
  }
  return [scalarText(value)];
}

function headerName(name: string): string {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name) || isFramingHeader(lower)) {
    throw new UnusableValue(`the header ${name} cannot be set`);
  }
  return lower;
}

function headerText(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : asciiJson(value);
  if (NOT_IN_A_HEADER.test(text)) {
    throw new UnusableValue(`the header ${name} cannot carry line breaks or letters beyond Latin`);
  }
  return text;
}

/** JSON can write every character in ASCII; a header has no other way. */
export function asciiJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function bodyText(values: readonly ToolValue[]): string {
  const text = JSON.stringify(Object.fromEntries(values.map(({ name, value }) => [name, value])));
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw new UnusableValue("the body is too large");
  return text;
}
