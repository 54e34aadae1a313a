import { expect, it } from "vitest";
import { committedApiFiles } from "../../client/scripts/api-types.ts";
import { apiFiles } from "../../client/scripts/api-types/files.ts";

it("the types of the REST client are those of the interface", async () => {
  expect(await committedApiFiles()).toEqual(apiFiles());
});
