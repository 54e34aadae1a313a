/**
 * `npm run crash -- --outage`: stops PostgreSQL for some seconds in the middle of conversations, on a server of its own.
 * No call may end, and no client may lose its connection.
 */

import { makePostgresServer } from "../../demo/postgres-server.ts";
import { pause, withConversations, type ConversationsOptions } from "./conversations.ts";

export interface CrashOutageOptions extends Omit<ConversationsOptions, "databaseUrl"> {
  readonly outages: number;
  readonly outageMs: number;
}

/** Records that waited are written, and leases are renewed. */
const BETWEEN_OUTAGES_MS = 15_000;

/** @returns the faults */
export async function crashOutage({
  outages,
  outageMs,
  ...options
}: CrashOutageOptions): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const server = await makePostgresServer();
  if (server === null) return ["there are no programs of PostgreSQL on this machine"];
  opened.defer(() => server.remove());
  await server.start();
  const lost: string[] = [];
  const faults = await withConversations(
    { ...options, databaseUrl: server.url },
    async ({ conversations }) => {
      for (let outage = 1; outage <= outages; outage += 1) {
        await server.stop();
        await pause(outageMs);
        await server.start();
        options.log(`the database is back after outage ${String(outage)}`);
        await pause(BETWEEN_OUTAGES_MS);
      }
      for (const [callId, { awayMs }] of conversations)
        if (awayMs.length > 0) lost.push(`${callId}: its client lost the connection`);
    },
  );
  return [...lost, ...faults];
}
