/** URLs and headers from users for requests of the service. */

import { z } from "zod";
import { asObject, withRule } from "./check.ts";
import { secret } from "./fields.ts";

/** Limits storage per URL; longer URLs fail in proxies anyway. */
const MAX_URL_LENGTH = 2048;
/** Limits the headers of one request, below the 16 KiB that common servers accept. */
const MAX_HEADER_LENGTH = 8192;
const MAX_HEADERS = 50;

/** An absolute URL with one of the given schemes, such as `["http", "https"]`, of at most `max` characters. */
export function url(schemes: readonly string[], max = MAX_URL_LENGTH) {
  return z
    .string()
    .superRefine((value, context) => {
      const problem = urlProblem(value, schemes, max);
      if (problem !== null) context.addIssue({ code: "custom", message: problem });
    })
    .meta({ format: "uri", maxLength: max });
}

function urlProblem(value: string, schemes: readonly string[], max: number): string | null {
  if (value.length > max) return `must have at most ${max} characters`;
  const wanted = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  const parsed = URL.parse(value);
  if (parsed === null || !schemes.includes(parsed.protocol.slice(0, -1)) || !/^[a-z]+:\/\//i.test(value)) {
    return wanted;
  }
  if (parsed.username !== "" || parsed.password !== "") return "must not contain a user name or password";
  return null;
}

/** RFC 9110 section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 section 5.5 without the obsolete bytes above ASCII. */
const HEADER_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Ends a masked secret in responses. No header can contain it, so a masked value that is sent back is recognised. */
export const MASK = "…";

const MASKED = /^.{0,4}…$/su;

/** Whether the text is a masked secret. */
export function isMasked(text: string): boolean {
  return MASKED.test(text);
}

/**
 * Header values by name. The values are secrets. Masked values are accepted, because a fetched record may be sent back.
 * `reserved` names, in lower case, are set by the service.
 */
export function headerMap(reserved: readonly string[] = []) {
  const map = z.record(z.string(), z.string());
  const checked = withRule(map, (value, report) => {
    for (const [name, text] of Object.entries(asObject(value) ?? {})) {
      const problem = headerProblem(name, text, reserved);
      if (problem !== null) report([name], problem);
    }
  });
  const mostMembers = { count: MAX_HEADERS, message: `must have at most ${MAX_HEADERS} entries` };
  return secret(checked.meta({ freeForm: true, mostMembers }));
}

function headerProblem(name: string, text: unknown, reserved: readonly string[]): string | null {
  if (!HEADER_NAME.test(name)) return "is not a header name";
  if (reserved.includes(name.toLowerCase())) return "is a header that the service sets itself";
  if (typeof text !== "string" || isMasked(text)) return null;
  if (text.length > MAX_HEADER_LENGTH) return `must have at most ${MAX_HEADER_LENGTH} characters`;
  return HEADER_VALUE.test(text) ? null : "must be printable ASCII without line breaks";
}
