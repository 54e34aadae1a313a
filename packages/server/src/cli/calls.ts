import { refundCall } from "../store/metering.ts";
import { type Command, CommandError } from "./command.ts";
import { withStore } from "./store.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const refund: Command = {
  words: ["calls", "refund"],
  summary: "Marks a billed call as refunded",
  arguments: [{ name: "CALL", description: "its id; it may have been deleted since" }],
  options: {},
  details: [
    "The billing status of the call becomes REFUNDED, and the usage of its account loses what the call was billed for. " +
      "Only a call that was billed can be refunded, and nothing takes it back.",
  ],
  run: async (input) => {
    const callId = (input.arguments[0] ?? "").toLowerCase();
    await withStore(input, async (db) => {
      if (!UUID.test(callId) || !(await refundCall(db, callId))) {
        throw new CommandError(`There is no billed call "${callId}".`);
      }
      input.print(`The call ${callId} is refunded.`);
    });
  },
};

export const callCommands: readonly Command[] = [refund];
