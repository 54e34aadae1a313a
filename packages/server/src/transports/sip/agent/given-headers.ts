/** Header fields that the application adds. */

import { writtenName } from "../message/headers.ts";
import { checkedValue, isToken } from "../message/syntax.ts";
import type { SipHeader } from "../user-agent.ts";

/** Fields that the protocol itself writes. */
const OWN: ReadonlySet<string> = new Set([
  ..."allow authorization call-id contact content-length content-type cseq from max-forwards min-se".split(
    " ",
  ),
  ..."proxy-authorization rack record-route require route rseq session-expires supported to via".split(" "),
]);
const MAX_GIVEN = 50;
const MAX_GIVEN_CHARS = 2_048;

/** @throws for a field that is not to be given, or not well-formed */
export function checkedHeaders(given: readonly SipHeader[]): readonly SipHeader[] {
  if (given.length > MAX_GIVEN) throw new Error(`at most ${String(MAX_GIVEN)} header fields can be added`);
  return given.map(({ name, value }) => {
    const lower = name.toLowerCase();
    // A name of one letter is the short form of another.
    if (!isToken(name) || name.length < 2 || OWN.has(lower)) {
      throw new Error(`the header field ${writtenName(lower.slice(0, 100))} cannot be added`);
    }
    if (value.length > MAX_GIVEN_CHARS) throw new Error(`the header field ${writtenName(lower)} is too long`);
    return { name: lower, value: checkedValue(value.trim()) };
  });
}
