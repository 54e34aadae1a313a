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
  | "caller_gone"
  /** The conference is over, or was left by a request. */
  | "left_conference"
  | "hung_up_in_conference";
