/** What an engine that is a list of engines says about its steps from one to the next. */

/** From now on another engine of the list serves the call. */
export interface EngineStep {
  /** Name of the engine that served before. */
  readonly from: string;
  /** Name of the engine that serves now. */
  readonly to: string;
  /** Why; null: `to` comes before `from` in the list and works again. */
  readonly error: string | null;
}

/** The call that uses an engine: the same object in all its requests, and the listener for steps of the list. */
export interface EngineUser {
  stepped(step: EngineStep): void;
}
