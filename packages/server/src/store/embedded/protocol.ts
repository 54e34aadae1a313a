/** Messages between the main thread and the worker thread of the embedded database. */

/** Start parameters of the worker. */
export interface WorkerInput {
  /** Folder of the database; created if it does not exist. */
  readonly databaseDir: string;
}

/** Bytes are whole or partial messages of the PostgreSQL wire protocol, as `pg` writes and reads them. */
export type ToWorker =
  /** Precedes all messages of the connection. `foreign`: of another process. */
  | { readonly type: "connected"; readonly connectionId: number; readonly foreign: boolean }
  | {
      readonly type: "sent";
      readonly chunks: readonly (readonly [connectionId: number, bytes: Uint8Array])[];
    }
  | { readonly type: "closed"; readonly connectionId: number }
  | { readonly type: "stop" };

export type FromWorker =
  | { readonly type: "opened" }
  | { readonly type: "answered"; readonly connectionId: number; readonly bytes: Uint8Array }
  /** The connection was ended and its transaction rolled back. */
  | { readonly type: "ended"; readonly connectionId: number; readonly reason: string }
  | { readonly type: "failed"; readonly error: string }
  | { readonly type: "stopped" };
