/** Counts what this process asks of its database, embedded or not: each is a round trip. */

import { Client } from "pg";

type Query = (...parameters: unknown[]) => unknown;

/** @returns the number since the last time */
export function countStatements(): () => number {
  let count = 0;
  const query = Reflect.get(Client.prototype, "query") as Query;
  const counted = function counted(this: Client, ...parameters: unknown[]): unknown {
    count += 1;
    return Reflect.apply(query, this, parameters);
  };
  Reflect.set(Client.prototype, "query", counted);
  return () => {
    const taken = count;
    count = 0;
    return taken;
  };
}
