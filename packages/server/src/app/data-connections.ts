/** Binds data connections of calls to the guarded dialler. */

import { headerPrefixes } from "@parley/schema";
import type { Config } from "../config/config.ts";
import { connectionTo, openGuardedDial } from "../net/guarded-dial.ts";
import { checkedUrl, targetOf } from "../net/target-url.ts";
import type { OpenDataConnection } from "../ports/data-connection.ts";
import { openDataConnections } from "../transports/data-connection/data-connection.ts";

export function openGuardedDataConnections({
  allowPrivateTargets: allowed,
  apiNames,
}: Pick<Config, "allowPrivateTargets" | "apiNames">): OpenDataConnection {
  const dial = openGuardedDial({ allowed });
  return openDataConnections({
    connectionTo: (url, signal) =>
      connectionTo(dial, targetOf(checkedUrl(url, allowed, "websocket")), signal),
    prefixes: headerPrefixes(apiNames),
    wallMs: Date.now,
    after: (delayMs, fire) => {
      const timer = setTimeout(fire, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  });
}
