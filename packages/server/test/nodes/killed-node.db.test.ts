/** A node that is killed without a word, and what the others and its next start do. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startChildService, type ChildService } from "../../demo/child-service.ts";
import { openServerTestStore } from "../../src/store/testing/databases.ts";
import { newKey, openWorldNode, type NodeCall, type WorldNode } from "./node-world.ts";

const server = inject("testServer");
if (server === null) process.stderr.write("skipped: a killed node, for there is no PostgreSQL here\n");

const SETTINGS = {
  medium: { serverWebSocket: { inputSampleRate: 16_000 } },
  firstSpeakerSettings: { user: {} },
};

describe.skipIf(server === null)("a node that is killed", () => {
  type Place = Awaited<ReturnType<typeof openServerTestStore>>;
  const key = newKey();
  let place: Place & { readonly databaseUrl: string };
  let dataDir: string;
  let survivor: WorldNode;

  beforeAll(async () => {
    if (server === null) throw new Error("A skipped test must not open its database.");
    const opened = await openServerTestStore(server);
    const { databaseUrl } = opened;
    if (databaseUrl === null) throw new Error("several nodes need PostgreSQL");
    place = { ...opened, databaseUrl };
    dataDir = await mkdtemp(join(tmpdir(), "parley-node-"));
  });
  afterAll(async () => {
    await place.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = (nodeAddress: string): Promise<ChildService> =>
    startChildService({
      dataDir,
      env: {
        API_KEY: key,
        DATABASE_URL: place.databaseUrl,
        SECRETS_KEY: Buffer.from(place.secretsKey).toString("base64"),
        NODE_ADDRESS: nodeAddress,
        RATE_LIMIT_PER_KEY: "0",
      },
    });
  const kill = async (child: ChildService): Promise<void> => {
    process.kill(child.pid, "SIGKILL");
    await child.exited;
  };
  const make = async (child: ChildService, settings: object = {}): Promise<NodeCall> => {
    const made = await fetch(`${child.baseUrl}/api/calls`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ ...SETTINGS, ...settings }),
    });
    expect(made.status).toBe(201);
    return (await made.json()) as NodeCall;
  };

  it("leaves its waiting calls to the others, with their timeouts", async () => {
    survivor = await openWorldNode(place, key);
    const child = await start("http://127.0.0.1:0");
    const [waiting, missed] = [await make(child), await make(child, { joinTimeout: "1s" })];
    await kill(child);
    const client = await survivor.join(waiting);
    await survivor.until(waiting.callId, "joined");
    expect((await survivor.until(missed.callId, "ended"))["endReason"]).toBe("unjoined");
    const path = `/api/calls/${waiting.callId}/send_data_message`;
    expect((await survivor.ask("POST", path, { type: "hang_up" })).status).toBe(204);
    await survivor.until(waiting.callId, "ended");
    await client.closed;
    await survivor.close();
  });

  it("starts again at once as the only node, and refuses others until they all have addresses", async () => {
    const again = await start("");
    await expect(openWorldNode(place, key)).rejects.toThrow(
      /without NODE_ADDRESS\. Restart it with NODE_ADDRESS set/,
    );
    await kill(again);
    // Another folder, so another node: the lease of the killed one runs out first.
    const other = await openWorldNode(place, key, { nodeAddress: null });
    expect((await other.ask("GET", "/readyz")).status).toBe(200);
    await other.close();
  });
});
