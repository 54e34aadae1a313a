/** What a carrier's request about a transfer says. `key_1`: the called person takes the call. */
export type TransferNews =
  | "instructions"
  | "question"
  | "answered"
  | "accepted"
  | "key_1"
  | "key_2"
  | "completed"
  | "busy"
  | "no_answer"
  | "failed"
  | "caller_gone";
