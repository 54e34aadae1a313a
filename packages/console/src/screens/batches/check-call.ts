/** Checks a call by the API's own rules. Loaded with the first check, because it is large. */

import { ScheduledCallWrite } from "@parley/schema/batches/batch";
import { ApiError } from "@parley/schema/values/errors";
import { parseBody } from "@parley/schema/values/parse-body";
import { DialledAddress } from "@parley/schema/values/phone-number";
import type { FieldFault } from "../../ui/field-errors.tsx";

const DIALLED = ["telephony1", "telephony2", "telephony3", "sip"] as const;

/** The errors of a call. Numbers that cannot be dialled are refused here, before they are dialled. */
export function checkCall(call: unknown): readonly FieldFault[] {
  try {
    const { medium = {} } = parseBody(ScheduledCallWrite, call);
    return DIALLED.flatMap((kind) => {
      const to = medium[kind]?.outgoing?.to;
      const problem = to === undefined ? undefined : DialledAddress.safeParse(to).error?.issues[0];
      return problem === undefined ? [] : [{ field: `medium.${kind}.outgoing.to`, message: problem.message }];
    });
  } catch (error) {
    if (error instanceof ApiError) return error.errors;
    throw error;
  }
}
