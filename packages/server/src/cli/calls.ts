import { refundCall } from "../store/accounts/metering.ts";
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
      if (!UUID.test(callId) || !(await refundCall(db, callId))) {
        throw new CommandError(`There is no billed call "${callId}".`);
      }
      input.print(`The call ${callId} was refunded.`);
    });
  },
};

export const callCommands: readonly Command[] = [refund];
