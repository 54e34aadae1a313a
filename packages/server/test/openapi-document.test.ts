import { expect, it } from "vitest";
import { DOCUMENT, documentText } from "./openapi-document.ts";
import { readSource } from "./source-text.ts";

it("the description in the repository is the one that the service prints", () => {
  const written = JSON.parse(readSource(DOCUMENT)) as unknown;
  expect(written).toEqual(JSON.parse(documentText()));
});
