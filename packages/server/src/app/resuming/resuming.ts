/** Opens what continues the calls of processes that are gone. */

import type { Logger } from "pino";
import { openAdoption, type Adoption } from "../../lifecycle/adoption/adoption.ts";
import type { CallStorage } from "../../lifecycle/storage.ts";
import type { Announcer } from "../../nodes/announcer.ts";
import { openClock } from "../../pacing/clock.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import type { Store } from "../../store/opening/open-store.ts";

export interface ResumingParts {
  readonly store: Store;
  readonly node: { readonly boot: NodeBoot };
  readonly liveCalls: LiveCalls;
  readonly storage: CallStorage;
  readonly announcer: Announcer;
  readonly journal: { has(callId: string): boolean };
  readonly logger: Logger;
}

export function openResuming(opened: AsyncDisposableStack, parts: ResumingParts): Adoption {
  const { store, node, announcer, journal } = parts;
  const trustsLeases = (): boolean => announcer.lease.trustsOthers();
  const isJournaled = (callId: string): boolean => journal.has(callId);
  const own = { db: store.recordsDb, boot: node.boot, clock: openClock(), trustsLeases, isJournaled };
  const adoption = openAdoption({ ...parts, ...own });
  opened.defer(() => adoption.close());
  return adoption;
}
