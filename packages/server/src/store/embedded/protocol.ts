/** What the main thread and the thread of the embedded database say to each other. */

/** Given to the worker at its start. */
export interface WorkerInput {
  /** Folder of the database; made when it does not exist. */
  readonly databaseDir: string;
}

/** Bytes are whole or partial messages of the PostgreSQL wire protocol, as `pg` writes and reads them. */
export type ToWorker =
  /** `foreign`: of another process. Before anything is sent. */
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
  /** The connection is over; what it had begun was rolled back. */
  | { readonly type: "ended"; readonly connectionId: number; readonly reason: string }
  | { readonly type: "failed"; readonly error: string }
  | { readonly type: "stopped" };
