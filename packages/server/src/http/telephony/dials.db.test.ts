import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { insertCall } from "../../store/calls/calls.ts";
import { deleteCall } from "../../store/calls/deleted-calls.ts";
import { intendDial, noteDialled, noteProgress, noteRefused } from "../../store/telephony/carrier-dials.ts";
import { noteRinging } from "../../store/telephony/dial-progress.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const NUMBER = "+4930123456";

describeOnBothDatabases("dialled calls of the interface", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
  });
  afterEach(async () => {
    await server.close();
  });

  async function dialledCall(owner = client): Promise<{ accountId: string; callId: string }> {
    const { db } = current();
    const { accountId } = owner;
    const call = newCall();
    await insertCall(db, accountId, call);
    await intendDial(db, accountId, { callId: call.callId, carrier: "telephony1", number: NUMBER });
    return { accountId, callId: call.callId };
  }

  const dialOf = async (callId: string) => (await client.get(`/api/calls/${callId}/dial`)).json;

  it("say how far they are", async () => {
    const { db } = current();
    const { accountId, callId } = await dialledCall();
    expect(await dialOf(callId)).toEqual({
      callId,
      state: "requested",
      carrierCallId: null,
      dialled: expect.any(String) as string,
      ringing: null,
      answered: null,
      ended: null,
      result: null,
      detail: null,
      talked: null,
    });
    await noteDialled(db, accountId, callId, "CA1");
    await noteRinging(db, accountId, callId);
    const rings = await dialOf(callId);
    expect(rings).toMatchObject({ state: "ringing", carrierCallId: "CA1" });
    await noteRinging(db, accountId, callId);
    expect(await dialOf(callId)).toEqual(rings);
    const answered = { carrierCallId: "CA1", isAnswered: true, result: null, detail: null, talkedMs: null };
    await noteProgress(db, accountId, callId, answered);
    expect(await dialOf(callId)).toMatchObject({ state: "answered", ringing: rings["ringing"] });
    await noteProgress(db, accountId, callId, { ...answered, result: "completed", talkedMs: 61_500 });
    expect(await dialOf(callId)).toMatchObject({
      state: "ended",
      result: "completed",
      talked: "61.5s",
      ended: expect.any(String) as string,
    });
  });

  it("do not ring after their answer or their end", async () => {
    const { db } = current();
    const answered = await dialledCall();
    const taken = { carrierCallId: "CA1", isAnswered: true, result: null, detail: null, talkedMs: null };
    await noteProgress(db, answered.accountId, answered.callId, taken);
    const refused = await dialledCall();
    await noteRefused(db, refused.accountId, refused.callId, "the number is invalid");
    for (const { accountId, callId } of [answered, refused]) {
      await noteRinging(db, accountId, callId);
      expect(await dialOf(callId)).toMatchObject({ ringing: null });
    }
    expect(await dialOf(refused.callId)).toMatchObject({
      result: "refused",
      detail: "the number is invalid",
    });
  });

  it("are not there for other accounts, for other calls, and keep nothing of a deleted call", async () => {
    const { db } = current();
    const { accountId, callId } = await dialledCall();
    const other = await newClient(server, db);
    for (const reply of [
      await other.get(`/api/calls/${callId}/dial`),
      await client.get(`/api/calls/${randomUUID()}/dial`),
      await client.get("/api/calls/5/dial"),
    ]) {
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
    }
    await noteDialled(db, accountId, callId, "CA1");
    await markEnded(db, accountId, callId, { endReason: "unjoined", endedAtMs: Date.now() });
    expect(await deleteCall(db, accountId, callId)).toBe("deleted");
    expect(await dialOf(callId)).toMatchObject({ carrierCallId: null, detail: null });
  });

  it("are stopped until somebody has answered", async () => {
    const { db } = current();
    const stopped: string[] = [];
    const own = await openTestServer(current(), {
      endUnjoined(callId) {
        stopped.push(callId);
        return Promise.resolve("ended");
      },
    });
    const ownClient = await newClient(own, db);
    const { callId } = await dialledCall(ownClient);
    const path = `/api/calls/${callId}/dial`;
    expect((await ownClient.delete(path)).status).toBe(204);
    expect(stopped).toEqual([callId]);
    await own.close();
    // Nothing is live in the server of the other tests.
    const { accountId, callId: ended } = await dialledCall();
    const refused = await client.delete(`/api/calls/${ended}/dial`);
    expect([refused.status, refused.json["code"]]).toEqual([422, "wrong_state"]);
    await markEnded(db, accountId, ended, { endReason: "unjoined", endedAtMs: Date.now() });
    expect((await client.delete(`/api/calls/${ended}/dial`)).json["detail"]).toBe("The call has ended.");
    const undialled = newCall();
    await insertCall(db, accountId, undialled);
    for (const id of [undialled.callId, callId, randomUUID()]) {
      expect((await client.delete(`/api/calls/${id}/dial`)).status).toBe(404);
    }
  });

  it("count for the day, except for those that the carrier has refused", async () => {
    const { db } = current();
    const path = "/api/accounts/me/dialling_use";
    expect((await client.get(path)).json).toEqual({ calls: 0, talked: "0s" });
    const { accountId, callId } = await dialledCall();
    await dialledCall();
    const refused = await dialledCall();
    await noteRefused(db, accountId, refused.callId, "no");
    const over = { carrierCallId: "CA1", isAnswered: true, result: "completed", detail: null } as const;
    await noteProgress(db, accountId, callId, { ...over, talkedMs: 90_000 });
    expect((await client.get(path)).json).toEqual({ calls: 2, talked: "90s" });
    const other = await newClient(server, db);
    expect((await other.get(path)).json).toEqual({ calls: 0, talked: "0s" });
  });

  it("come with the URLs for carriers", async () => {
    const { accountId } = client;
    expect((await client.get("/api/accounts/me/telephony_urls")).json).toEqual({
      publicUrl: "https://voice.example",
      accountUrl: `https://voice.example/api/accounts/${accountId}/telephony_xml`,
      agentUrl: "https://voice.example/api/agents/{agent_id}/telephony_xml",
    });
  });
});
