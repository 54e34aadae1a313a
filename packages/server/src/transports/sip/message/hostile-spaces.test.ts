/**
 * Messages of the largest size that are mostly spaces. With a pattern whose time grows with the square of the spaces each
 * of them would take seconds, in which the process does nothing else.
 */

import { expect, it } from "vitest";
import { MAX_MESSAGE_BYTES } from "./message.ts";
import { parseMessage } from "./parse.ts";

const MESSAGES = 20;
const HEAD = "OPTIONS sip:user@127.0.0.2 SIP/2.0\r\n";
const SPACES = 60_000;

it.each([
  ["within a line", `Subject: a${" ".repeat(SPACES)}b`],
  ["tabs and spaces", `Subject: a${"\t ".repeat(SPACES / 2)}b`],
  ["before the end of a line", `Subject: a${" ".repeat(SPACES)}`],
  ["folded lines", `Subject: a${"\r\n ".repeat(SPACES / 3)}b`],
  ["folded lines with spaces at their end", `Subject: a${"   \r\n b".repeat(SPACES / 7)}`],
  ["Via", "Via: SIP/2.0/UDP a".padEnd(8_000, " ") + "b"],
  ["the port in Via", `Via: SIP/2.0/UDP a${" ".repeat(4_000)}:${" ".repeat(3_900)}b`],
  ["many Via", Array.from({ length: 7 }, () => "Via: SIP/2.0/UDP a".padEnd(8_000, " ") + "b").join("\r\n")],
])("refuses at once: %s", (_where, lines) => {
  const bytes = Buffer.from(`${HEAD}${lines}\r\n\r\n`);
  expect(bytes.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
  for (let message = 0; message < MESSAGES; message += 1)
    expect(parseMessage(bytes)).toMatchObject({ kind: "refused", status: 400 });
});

it("reads folded lines as one", () => {
  const message =
    "OPTIONS sip:user@127.0.0.2 SIP/2.0\r\nVia: SIP/2.0/UDP  host.example : 5060 \t\r\n ;branch=x \r\n\t;rport\r\n\r\n";
  expect(parseMessage(Buffer.from(message))).toMatchObject({
    headers: [{ name: "via", value: "SIP/2.0/UDP  host.example : 5060 ;branch=x ;rport" }],
  });
});
