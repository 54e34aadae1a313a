/** Who has answered a call that was dialled. */

export interface Answerer {
  /** The carrier's word, such as `machine_start`. */
  readonly answeredBy: string;
  readonly isMachine: boolean;
  /** A message can be left now. */
  readonly greetingEnded: boolean;
}
