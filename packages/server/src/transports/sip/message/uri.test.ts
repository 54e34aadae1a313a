import { expect, it } from "vitest";
import { parseUri } from "./uri.ts";

it.each([
  'sip:a@b.example;x="c"',
  'sip:a@b.example;x=">,<sip:c@d.example"',
  "sip:a@b.example;x=<c>",
  "sip:a@b c",
])("is no URI that could be written between brackets: %s", (text) => {
  expect(parseUri(text)).toBeNull();
});

it("keeps parameters that need no quotes", () => {
  expect(parseUri("sip:a@b.example;transport=tcp;lr")?.parameters.get("transport")).toBe("tcp");
});
