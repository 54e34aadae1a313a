/** A user agent over real sockets on a free port of the loopback address. */

import { openClock } from "../../../pacing/clock.ts";
import { openUserAgent, type UserAgentOptions } from "../agent/open-user-agent.ts";
import type { SipUserAgent, UserAgentListener } from "../user-agent.ts";

/** A port that is free for UDP can be taken for TCP. */
const TRIES = 10;

export async function openLoopbackAgent(
  listener: UserAgentListener,
  options: Partial<UserAgentOptions> = {},
): Promise<SipUserAgent> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openUserAgent({
        clock: openClock(),
        bind: "127.0.0.1",
        port: 0,
        tls: null,
        announcedAddress: null,
        allowed: true,
        isKnown: () => true,
        listener,
        ...options,
      });
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}
