import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { openCarriers } from "../../providers/carriers/carriers.ts";

/** An address of this machine that may not be reached. */
const nowhere = "http://127.0.0.1:9";

/** For processes that dial nobody. */
export const noCarriers = openCarriers(openGuardedClient({ allowed: [] }), {
  telephony1: nowhere,
  telephony2: nowhere,
  telephony3: nowhere,
});
