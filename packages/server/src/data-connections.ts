/** Binds data connections of calls to the guarded dialler. */

import type { Config } from "./config.ts";
import { connectionTo, openGuardedDial } from "./net/guarded-dial.ts";
import { checkedUrl, targetOf } from "./net/target-url.ts";
import type { OpenDataConnection } from "./ports/data-connection.ts";
import { openDataConnections } from "./transports/data-connection/data-connection.ts";

/** D127: with vendor names the signature is also sent under the vendor's prefix. */
const VENDOR_PREFIX = "X-Ultravox-";

export function openGuardedDataConnections({
  allowPrivateTargets: allowed,
  apiNames,
}: Pick<Config, "allowPrivateTargets" | "apiNames">): OpenDataConnection {
  const dial = openGuardedDial({ allowed });
  return openDataConnections({
    connectionTo: (url, signal) =>
      connectionTo(dial, targetOf(checkedUrl(url, allowed, "websocket")), signal),
    aliasPrefix: apiNames === "vendor" ? VENDOR_PREFIX : null,
    wallMs: Date.now,
    after: (delayMs, fire) => {
      const timer = setTimeout(fire, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  });
}
