import { openGuardedClient } from "../../../net/guarded-fetch.ts";

/** For the fakes, which listen on this machine. */
export const loopbackClient = openGuardedClient({ allowed: true });
