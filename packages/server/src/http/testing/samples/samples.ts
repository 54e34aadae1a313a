/** Test data of `security.db.test.ts` for each kind of record: one stored example, and valid bodies. */

import type { RouteName } from "@parley/schema";
import type { Client } from "../http-fixture.ts";
import { accountSamples } from "./accounts.ts";
import { batchSamples } from "./batches.ts";
import { callSamples } from "./calls.ts";
import { carrierSamples } from "./carriers.ts";
import { corpusSamples } from "./corpora.ts";
import { voiceSamples } from "./voices.ts";
import { webhookSamples } from "./webhooks.ts";

/** Path parameter to value, such as `agent_id`. */
export type SampleIds = Readonly<Record<string, string>>;

export interface Samples {
  /** Stores the records in the paths, by requests of their owner. `ids` has those of earlier samples. */
  readonly make: (owner: Client, ids: SampleIds) => Promise<SampleIds>;
  /** Bodies of operations that refuse `{}` before they look up the record. */
  readonly bodies: Partial<Record<RouteName, object>>;
}

/** Agents and calls come first: other records refer to them. */
const ALL: readonly Samples[] = [
  callSamples,
  accountSamples,
  voiceSamples,
  corpusSamples,
  batchSamples,
  webhookSamples,
  carrierSamples,
];

export async function makeSamples(owner: Client): Promise<SampleIds> {
  let ids: SampleIds = {};
  for (const { make } of ALL) ids = { ...ids, ...(await make(owner, ids)) };
  return ids;
}

export const VALID_BODIES: Partial<Record<RouteName, object>> = Object.assign(
  {},
  ...ALL.map(({ bodies }) => bodies),
);
