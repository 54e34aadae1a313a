/** Opens what continues the calls of processes that are gone. */

import type { Logger } from "pino";
import { openAdoption, type Adoption } from "../../lifecycle/adoption/adoption.ts";
import type { CallStorage } from "../../lifecycle/storage.ts";
import type { NodeWatch } from "../../nodes/lost-nodes.ts";
import { openClock } from "../../pacing/clock.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import type { Store } from "../../store/opening/open-store.ts";

export interface ResumingParts {
  readonly store: Store;
  readonly node: { readonly boot: NodeBoot };
  readonly liveCalls: LiveCalls;
  readonly storage: CallStorage;
  readonly nodes: NodeWatch;
  readonly logger: Logger;
}

export function openResuming(opened: AsyncDisposableStack, parts: ResumingParts): Adoption {
  const { store, node, nodes } = parts;
  const trustsLeases = (): boolean => nodes.trustsLeases();
  const own = { db: store.recordsDb, boot: node.boot, clock: openClock(), trustsLeases };
  const adoption = openAdoption({ ...parts, ...own });
  opened.defer(() => adoption.close());
  return adoption;
}
