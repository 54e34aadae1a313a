/** Addresses of From, To, Contact, Route, Record-Route, Refer-To and Referred-By. */

import { MAX_URI_CHARS, schemeOf } from "./uri.ts";
import { isToken, parseParameters, parametersText, quoted, unquoted, type Parameters } from "./syntax.ts";

export interface NameAddr {
  readonly displayName: string | null;
  /** As written; of any scheme. */
  readonly uri: string;
  /** Of the header field, so without those of the URI. */
  readonly parameters: Parameters;
}

export function parseNameAddr(text: string): NameAddr | null {
  const value = text.trim();
  const open = outsideQuotes(value, "<");
  if (open === -1) return parseAddrSpec(value);
  const close = value.indexOf(">", open);
  if (close === -1) return null;
  const displayName = parseDisplayName(value.slice(0, open).trim());
  const uri = value.slice(open + 1, close);
  const parameters = parseParameters(value.slice(close + 1));
  if (displayName === undefined || !isUri(uri) || parameters === null) return null;
  return { displayName, uri, parameters };
}

/** Without brackets every parameter is one of the header field, and the URI has neither `,` nor `?`. */
function parseAddrSpec(value: string): NameAddr | null {
  const semicolon = value.indexOf(";");
  const uri = (semicolon === -1 ? value : value.slice(0, semicolon)).trim();
  const parameters = parseParameters(semicolon === -1 ? "" : value.slice(semicolon));
  if (!isUri(uri) || /[,?"]/.test(uri) || parameters === null) return null;
  return { displayName: null, uri, parameters };
}

function isUri(text: string): boolean {
  return text.length <= MAX_URI_CHARS && schemeOf(text) !== null && !/[\s<>]/.test(text);
}

/** Undefined: not well-formed. */
function parseDisplayName(text: string): string | null | undefined {
  if (text === "") return null;
  if (text.startsWith('"')) return unquoted(text) ?? undefined;
  const words = text.split(/\s+/);
  return words.every((word) => isToken(word)) ? words.join(" ") : undefined;
}

function outsideQuotes(text: string, character: string): number {
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (isQuoted && text[at] === "\\") at += 1;
    else if (text[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && text[at] === character) return at;
  }
  return -1;
}

export function nameAddrText({ displayName, uri, parameters }: NameAddr): string {
  const name = displayName === null ? "" : `${quoted(displayName)} `;
  return `${name}<${uri}>${parametersText(parameters)}`;
}

export function withTag(address: NameAddr, tag: string): NameAddr {
  return { ...address, parameters: new Map([...address.parameters, ["tag", tag]]) };
}

export function tagOf({ parameters }: NameAddr): string | null {
  return parameters.get("tag") ?? null;
}
