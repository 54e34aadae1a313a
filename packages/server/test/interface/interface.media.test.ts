/** The requests of every row of the interface, against the whole service. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, openRunningService } from "../running-service.ts";
import { PARTS } from "./parts.ts";

let service: RunningService;
beforeAll(async () => {
  service = await openRunningService();
});
afterAll(() => service.close());

describe.each(Object.entries(PARTS))("%s", (_part, { rules }) => {
  const rows = Object.entries(rules).filter(([, proofs]) => proofs.length > 0);
  it.each(rows)("%s", async (_row, proofs) => {
    for (const proof of proofs) await expect(proof(service)).resolves.toBeUndefined();
  });
});
