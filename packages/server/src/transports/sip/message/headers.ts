/** Names and values of header fields. Inside they have their long names in lower case. */

import type { SipHeader } from "../user-agent.ts";
import { splitOutside } from "./syntax.ts";

const COMPACT: Readonly<Record<string, string>> = {
  a: "accept-contact",
  b: "referred-by",
  c: "content-type",
  d: "request-disposition",
  e: "content-encoding",
  f: "from",
  i: "call-id",
  j: "reject-contact",
  k: "supported",
  l: "content-length",
  m: "contact",
  o: "event",
  r: "refer-to",
  s: "subject",
  t: "to",
  u: "allow-events",
  v: "via",
  x: "session-expires",
  y: "identity",
};

/** Where upper case is not at the beginning of each word alone. */
const WRITTEN: Readonly<Record<string, string>> = {
  "call-id": "Call-ID",
  cseq: "CSeq",
  "mime-version": "MIME-Version",
  "min-se": "Min-SE",
  rack: "RAck",
  rseq: "RSeq",
  "www-authenticate": "WWW-Authenticate",
};

export function longName(name: string): string {
  const lower = name.toLowerCase();
  return COMPACT[lower] ?? lower;
}

export function writtenName(name: string): string {
  return (
    WRITTEN[name] ??
    name.replaceAll(/(^|-)([a-z])/g, (_all, dash: string, letter: string) => dash + letter.toUpperCase())
  );
}

interface WithHeaders {
  readonly headers: readonly SipHeader[];
}

/** The first value of this name. */
export function headerOf({ headers }: WithHeaders, name: string): string | null {
  return headers.find((header) => header.name === name)?.value ?? null;
}

/** All values of a field that is a list, which may be on one line or on many. Null: a quoted string is left open. */
export function listOf({ headers }: WithHeaders, name: string): readonly string[] | null {
  const values: string[] = [];
  for (const header of headers) {
    if (header.name !== name) continue;
    const parts = splitOutside(header.value, ",");
    if (parts === null) return null;
    values.push(...parts);
  }
  return values;
}

/** Values of a list of tokens such as Supported, in lower case; empty for what is not well-formed. */
export function tokensOf(message: WithHeaders, name: string): readonly string[] {
  return (listOf(message, name) ?? []).map((value) => value.toLowerCase()).filter((value) => value !== "");
}
