/** A process whose node another one has taken, as after a long pause of its machine. */

import { sql } from "kysely";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { restOf, startChildService } from "../demo/child-service.ts";
import { getCall } from "../src/store/calls/calls.ts";
import { describeOnBothDatabases } from "../src/store/testing/databases.ts";

/** How an attempt to join ends first. */
function join(joinUrl: string): Promise<"joined" | "refused"> {
  return new Promise((resolve) => {
    const socket = new WebSocket(joinUrl);
    const end = (how: "joined" | "refused"): void => {
      resolve(how);
      socket.terminate();
    };
    socket.on("open", () => end("joined"));
    // The process may end before its answer has been sent.
    for (const refusal of ["unexpected-response", "close", "error"]) socket.on(refusal, () => end("refused"));
  });
}

describeOnBothDatabases("a process whose node was taken", (current) => {
  it("accepts no join, leaves its calls alone, and ends with 1 and a sentence", async ({ skip }) => {
    const { db, databaseUrl, secretsKey } = current();
    // Two processes cannot have the embedded database open.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const lines: string[] = [];
    const service = await startChildService({
      env: { DATABASE_URL: databaseUrl, SECRETS_KEY: Buffer.from(secretsKey).toString("base64") },
      onLine: (line) => lines.push(line),
    });
    try {
      const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
      const made = await restOf(service)<{ callId: string; joinUrl: string }>("POST", "/api/calls", {
        medium,
      });
      const taken = await sql<{ account: string }>`
        with taken as (update nodes set boot_id = 'another process' from calls
          where nodes.id = calls.node_id and calls.id = ${made.callId} returning account_id)
        select account_id as account from taken`.execute(db.query);
      const accountId = taken.rows[0]?.account ?? "";
      expect(await join(made.joinUrl)).toBe("refused");
      expect(await service.exited).toBe(1);
      expect(lines.join("\n")).toContain(
        "Another process runs as this node; the service must be started again.",
      );
      expect(await getCall(db, accountId, made.callId)).toMatchObject({ joinedAt: null, endedAt: null });
    } finally {
      await service.stop();
    }
  });
});
