/** The table of `docs/embedding.md` is the one that the call engine applies. */

import { allowsRight, CLIENT_MESSAGE_LEVELS, CLIENT_MESSAGE_RIGHTS } from "@parley/schema";
import { expect, test } from "vitest";
import { tableRows } from "./markdown.ts";
import { readSource } from "./source-text.ts";

const page = readSource("docs/embedding.md");

test("the page lists every data message with its levels", () => {
  const declared = CLIENT_MESSAGE_RIGHTS.map((right) => [
    `\`${right.type}\``,
    right.part ?? "",
    ...CLIENT_MESSAGE_LEVELS.map((level) => (allowsRight(level, right) ? "yes" : "no")),
    right.otherwise,
  ]);
  expect(tableRows(page, /^`[a-z_]+`$/)).toEqual(declared);
  const [head] = tableRows(page, /^Data message$/);
  expect(head?.slice(2, -1)).toEqual(CLIENT_MESSAGE_LEVELS.map((level) => `\`${level}\``));
});
