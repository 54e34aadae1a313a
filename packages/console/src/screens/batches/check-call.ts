/** Whether a call may be part of a batch: the interface's own rules. Loaded when rows are first checked, for it is large. */

import { ScheduledCallWrite } from "@parley/schema/batch";
import { ApiError } from "@parley/schema/errors";
import { parseBody } from "@parley/schema/parse-body";
import { DialledAddress } from "@parley/schema/phone-number";
import type { FieldFault } from "../../ui/field-errors.tsx";

const DIALLED = ["telephony1", "telephony2", "telephony3", "sip"] as const;

/** Empty where it may. Numbers that nobody could dial are refused here and not first when they are dialled. */
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
