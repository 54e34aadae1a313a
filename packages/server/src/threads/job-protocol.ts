/** Messages between the pool and its threads. */

export interface ToJobThread {
  readonly id: number;
  /** The address of a module that exports `run`, a `JobModule`. */
  readonly module: string;
  readonly input: unknown;
}

export type FromJobThread =
  | { readonly type: "ready" }
  /** The module is loaded, and its function begins. */
  | { readonly type: "began"; readonly id: number }
  | { readonly type: "done"; readonly id: number; readonly output: unknown }
  | { readonly type: "failed"; readonly id: number; readonly detail: string };

/** What a module of jobs exports. Input and output are copied between threads. */
export interface JobModule {
  readonly run: (input: unknown) => unknown;
}
