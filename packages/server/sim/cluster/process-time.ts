/**
 * Gives the code of each simulated process its own clocks and timers, though all of them run in this one: the functions
 * of the runtime ask which process has called them. Outside of simulated processes they are what they always were.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";

/** The clocks of one process. */
export interface ProcessTime {
  /** As `Date.now()`: wrong by the skew of the machine. */
  readonly wallMs: () => number;
  /** As `performance.now()`. */
  readonly nowMs: () => number;
  /** Returns a function that cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

const processes = new AsyncLocalStorage<ProcessTime>();

/** Runs the code of a process. */
export function runIn<Result>(time: ProcessTime, run: () => Result): Result {
  return processes.run(time, run);
}

/** Runs code that belongs to no process, such as the driver of the database. */
export function runOutside<Result>(run: () => Result): Result {
  return processes.exit(run);
}

/** What `setTimeout` returns to the code of a process. */
class ProcessTimer {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** Until the returned function is called. */
export function installProcessTime(): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    dateNow: Date.now,
    performanceNow: performance.now.bind(performance),
    wait: timersPromises.setTimeout,
  };
  const setTimeoutOf = (run: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]): unknown => {
    const time = processes.getStore();
    if (time === undefined) return real.setTimeout(run, delayMs, ...values);
    return new ProcessTimer(time.after(delayMs, () => run(...values)));
  };
  const clearTimeoutOf = (timer: unknown): void => {
    if (timer instanceof ProcessTimer) timer.cancel();
    else real.clearTimeout(timer as NodeJS.Timeout);
  };
  const waitOf = <Value>(delayMs?: number, value?: Value): Promise<Value> => {
    const time = processes.getStore();
    if (time === undefined) return real.wait(delayMs, value);
    return new Promise((resolve) => time.after(delayMs ?? 0, () => resolve(value as Value)));
  };
  Object.assign(globalThis, { setTimeout: setTimeoutOf, clearTimeout: clearTimeoutOf });
  Date.now = () => processes.getStore()?.wallMs() ?? real.dateNow();
  performance.now = () => processes.getStore()?.nowMs() ?? real.performanceNow();
  Object.assign(timersPromises, { setTimeout: waitOf });
  syncBuiltinESMExports();
  return () => {
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    Date.now = real.dateNow;
    // The one of the prototype is seen again.
    Reflect.deleteProperty(performance, "now");
    Object.assign(timersPromises, { setTimeout: real.wait });
    syncBuiltinESMExports();
  };
}
