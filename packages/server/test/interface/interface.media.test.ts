/** Every row of the interface, against the whole service. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, openRunningService } from "../running-service.ts";
import { PARTS } from "./parts.ts";
import { isProof } from "./rules.ts";

let service: RunningService;
beforeAll(async () => {
  service = await openRunningService();
});
afterAll(() => service.close());

describe.each(Object.entries(PARTS))("%s", (_part, rules) => {
  it.each(Object.entries(rules))("%s", async (_row, proofs) => {
    for (const proof of proofs.filter(isProof)) await expect(proof(service)).resolves.toBeUndefined();
  });
});
