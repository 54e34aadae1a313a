import { recordOperatorChange } from "../store/accounts/audit-log.ts";
import { refundCall } from "../store/accounts/metering.ts";
import { type Db, inTransaction } from "../store/database/db.ts";
import { type Command, CommandError } from "./command.ts";
import { withStore } from "./store.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const refund: Command = {
  words: ["calls", "refund"],
  summary: "Marks a billed call as refunded",
  arguments: [{ name: "CALL", description: "its id; the call may have been deleted" }],
  options: {},
  details: [
    "The billing status of the call becomes REFUNDED, and its billed time is subtracted from the usage of its account. " +
      "Only a billed call can be refunded. This cannot be undone.",
  ],
  run: async (input) => {
    const callId = (input.arguments[0] ?? "").toLowerCase();
    await withStore(input, async (db) => {
      if (!UUID.test(callId) || !(await refunded(db, callId))) {
        throw new CommandError(`There is no billed call "${callId}".`);
      }
      input.print(`The call ${callId} was refunded.`);
    });
  },
};

async function refunded(db: Db, callId: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const accountId = await refundCall(tx, callId);
    if (accountId === null) return false;
    const target = { id: callId, name: null };
    await recordOperatorChange(tx, accountId, { operation: "refundCall", via: "command_line", target });
    return true;
  });
}

export const callCommands: readonly Command[] = [refund];
