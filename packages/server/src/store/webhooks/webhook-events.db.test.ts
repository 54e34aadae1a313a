import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { insertCall } from "../calls/calls.ts";
import { inTransaction } from "../database/db.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { createWebhook, deleteWebhook } from "./webhooks.ts";

describeOnBothDatabases("events for webhooks", (current) => {
  it("keep no call from being created while one of its webhooks is being deleted", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const webhook = { events: ["call.started"], agentId: null, secrets: [] } as const;
    const kept = await createWebhook(db, accountId, { ...webhook, url: "http://127.0.0.1:1/kept" });
    const gone = await createWebhook(db, accountId, { ...webhook, url: "http://127.0.0.1:1/gone" });
    let creation: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await deleteWebhook(tx, accountId, gone.webhookId);
      creation = insertCall(db, accountId, newCall());
      creation.catch(() => undefined);
      // Time for the statement to reach the webhook that is being deleted.
      await pause(300);
    });
    await creation;
    const notified = await sql<{ id: string }>`
      select webhook_id as id from webhook_deliveries where account_id = ${accountId}`.execute(db.query);
    expect(notified.rows.map(({ id }) => id)).toEqual([kept.webhookId]);
  });
});
