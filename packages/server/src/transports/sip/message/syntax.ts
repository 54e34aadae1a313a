/** Pieces of the grammar of RFC 3261, section 25, that several header fields share. Null always means: not well-formed. */

const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;
/** Values of parameters, as peers write them: tokens, hosts and addresses. */
const PARAMETER_VALUE = /^[A-Za-z0-9\-.!%*_+`'~[\]:/@?&=$]+$/;

/** Parameters of one URI or header field; real ones have fewer than ten. */
const MAX_PARAMETERS = 50;

export type Parameters = ReadonlyMap<string, string | null>;

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A whole number without a sign, up to `most`. */
export function wholeNumber(text: string, most: number): number | null {
  if (!/^\d{1,15}$/.test(text)) return null;
  const number = Number(text);
  return number <= most ? number : null;
}

/** Splits at a separator outside of quoted strings and of `<>`. Null: a quote or bracket is left open. */
export function splitOutside(text: string, separator: "," | ";"): string[] | null {
  const parts: string[] = [];
  let begin = 0;
  let isQuoted = false;
  let isBracketed = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted) {
      if (character === "\\") at += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "<") isBracketed = true;
    else if (character === ">") isBracketed = false;
    else if (character === separator && !isBracketed) {
      parts.push(text.slice(begin, at).trim());
      begin = at + 1;
    }
  }
  if (isQuoted || isBracketed) return null;
  parts.push(text.slice(begin).trim());
  return parts;
}

/** `;name=value;name`, beginning with the semicolon or empty. Names are in lower case; the first of a name counts. */
export function parseParameters(text: string): Parameters | null {
  const parts = splitOutside(text.trim(), ";");
  if (parts === null || parts[0] !== "" || parts.length > MAX_PARAMETERS + 1) return null;
  const parameters = new Map<string, string | null>();
  for (const part of parts.slice(1)) {
    const equals = part.indexOf("=");
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (!isToken(name)) return null;
    const value = equals === -1 ? null : readValue(part.slice(equals + 1).trim());
    if (value === undefined) return null;
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

function readValue(text: string): string | undefined {
  if (text.startsWith('"')) return unquoted(text) ?? undefined;
  return PARAMETER_VALUE.test(text) ? text : undefined;
}

/** The content of one quoted string that is the whole text. */
export function unquoted(text: string): string | null {
  const match = /^"((?:[^"\\]|\\.)*)"$/su.exec(text);
  return match?.[1]?.replaceAll(/\\(.)/gsu, "$1") ?? null;
}

/** @throws for control characters, which no quoted string may have */
export function quoted(text: string): string {
  return `"${checkedValue(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Control characters, of which a header field has the tab alone. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) !== -1;
}

export function withoutControls(text: string): string {
  return text.replaceAll(CONTROLS, "");
}

/** @throws when the text would end the line that it is written into */
export function checkedValue(text: string): string {
  if (hasControls(text)) throw new Error("a header field of SIP has no control characters");
  return text;
}

export function parametersText(parameters: Parameters): string {
  return [...parameters]
    .map(([name, value]) => {
      if (value === null) return `;${name}`;
      return PARAMETER_VALUE.test(value) ? `;${name}=${value}` : `;${name}=${quoted(value)}`;
    })
    .join("");
}
