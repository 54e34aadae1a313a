/**
 * `npm run crash -- --calls`: kills services at random moments of conversations. Every client comes back at a random
 * address. Afterwards `call-faults.ts` compares each call with what its client heard, and with the effects of its tool.
 */

import { createDatabase } from "../../bench/jobs-store.ts";
import { pause, withConversations, type ConversationsOptions } from "./conversations.ts";

export interface CrashCallsOptions extends Omit<ConversationsOptions, "databaseUrl"> {
  readonly kills: number;
  readonly isEmbedded: boolean;
}

/** @returns the faults */
export async function crashCalls({
  kills,
  isEmbedded,
  ...options
}: CrashCallsOptions): Promise<readonly string[]> {
  const { draw, log } = options;
  await using opened = new AsyncDisposableStack();
  const database = isEmbedded ? null : await createDatabase();
  if (database !== null) opened.defer(() => database.drop());
  // Awaited here: the database is dropped at the end of this function.
  return await withConversations(
    { ...options, databaseUrl: database?.url ?? null },
    async ({ services, conversations }) => {
      for (let kill = 1; kill <= kills; kill += 1) {
        await pause(1_500 + draw.unit() * 4_000);
        await services.killOne();
        const all = [...conversations.values()];
        const going = all.filter(({ over }) => over === null).length;
        log(`${String(kill)} kills, ${String(going)} of ${String(all.length)} calls go on`);
      }
    },
  );
}
