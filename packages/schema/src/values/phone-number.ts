/** Numbers and addresses to dial, each in one canonical spelling, so that they can be compared. */

import { z } from "zod";

/** ITU-T E.164 section 6: at most 15 digits, and no country code begins with 0. */
const E164 = /^\+[1-9]\d{1,14}$/;
/** Separators between digits. */
const SEPARATORS = /[\s().\-/\u00a0]/g;
/**
 * The zero for calls within the country, as in `+49 (0)30 1234`. Nearly everywhere it is left out in calls from abroad,
 * but not in Italy, so only the author knows whether it belongs to the number.
 */
const TRUNK_PREFIX = /^(?:tel:)?\s*\+[\d\s.\-/\u00a0]+\(\s*0/i;
/** RFC 3261 section 25.1 without parameters and headers, and without a password. */
const SIP_URI = /^(sips?):([a-z0-9\-_.!~*'()&=+$,;?/%]+)@([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

/** No real address is longer; this is the limit of a path parameter. */
export const MAX_DIALLED_LENGTH = 256;

/**
 * `+49 30 1234` and `tel:+49-30-1234` become `+49301234`; `SIP:Ann@Example.COM;transport=tcp` becomes
 * `sip:Ann@example.com`. Null: neither a number in E.164 form nor a SIP URI, or a number with a zero in brackets.
 */
export function dialledAddress(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_DIALLED_LENGTH) return null;
  if (TRUNK_PREFIX.test(trimmed)) return null;
  const number = trimmed.replace(/^tel:/i, "").replaceAll(SEPARATORS, "");
  if (E164.test(number)) return number;
  // Parameters are part of the route, not of the identity. The user part may contain `;` and `?`, so parameters are
  // searched after the `@`.
  const at = trimmed.indexOf("@");
  const bare = at < 0 ? trimmed : trimmed.slice(0, at) + trimmed.slice(at).replace(/[;?].*$/s, "");
  const [, scheme, user, host, port = ""] = SIP_URI.exec(bare) ?? [];
  if (scheme === undefined || user === undefined || host === undefined) return null;
  return `${scheme.toLowerCase()}:${user}@${host.toLowerCase()}${port}`;
}

/** A number in E.164 form or a SIP URI; parses to its canonical spelling. */
export const DialledAddress = z
  .string()
  .refine((text) => dialledAddress(text) !== null, {
    error: ({ input }) =>
      TRUNK_PREFIX.test(String(input).trim())
        ? "must be as it is dialled from abroad, without brackets around a zero: +49 30 123456, not +49 (0)30 123456"
        : "must be a number such as +4930123456, or a SIP URI such as sip:ann@example.com",
  })
  .overwrite((text) => dialledAddress(text) ?? text)
  .meta({
    maxLength: MAX_DIALLED_LENGTH,
    pattern: String.raw`^(?:\+[1-9][0-9]{1,14}|sips?:[^@\s]+@[^@\s]+)$`,
    examples: ["+4930123456"],
  });
