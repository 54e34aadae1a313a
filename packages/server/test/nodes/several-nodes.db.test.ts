/** Three nodes on one PostgreSQL, and requests to whichever of them: what section 8 of a review found at the wrong node. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { DisconnectReason } from "@livekit/protocol";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import type { WebSocket } from "ws";
import { RoomCaller } from "../../src/joins/rooms/testing/room-caller.ts";
import { createAccount, setAccountLimits } from "../../src/store/accounts/accounts.ts";
import { createApiKey } from "../../src/store/accounts/api-keys.ts";
import { openServerTestStore } from "../../src/store/testing/databases.ts";
import type { CallClient } from "../../src/runner/testing/call-client.ts";
import { loopbackClient } from "../../src/transports/webrtc/testing/webrtc-caller.ts";
import { newKey, openWorldNode, type Answered, type NodeCall, type WorldNode } from "./node-world.ts";

const server = inject("testServer");
if (server === null) process.stderr.write("skipped: several nodes, for there is no PostgreSQL here\n");

const USER_FIRST = { firstSpeakerSettings: { user: {} } };
const WEB_RTC = { medium: { webRtc: {} }, ...USER_FIRST };

/** How a join ends at first. */
type Joined =
  | { readonly kind: "open" }
  | { readonly kind: "closed"; readonly code: number }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly retryAfter: string | undefined;
      readonly code: unknown;
    };

/** `open` once the first message of the call has come. */
async function outcomeOf(socket: WebSocket): Promise<Joined> {
  return new Promise((resolve) => {
    socket.once("message", () => resolve({ kind: "open" }));
    socket.once("close", (code) => resolve({ kind: "closed", code }));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      let text = "";
      response.on("data", (block: Buffer) => void (text += block.toString()));
      response.on("end", () => {
        const { code } = JSON.parse(text) as { code: unknown };
        const retryAfter = response.headers["retry-after"];
        resolve({ kind: "refused", status: response.statusCode ?? 0, retryAfter, code });
        socket.terminate();
      });
    });
  });
}

describe.skipIf(server === null)("several nodes", () => {
  type Place = Awaited<ReturnType<typeof openServerTestStore>>;
  const key = newKey();
  let place: Place & { readonly databaseUrl: string };
  let a: WorldNode;
  let b: WorldNode;
  let c: WorldNode;

  beforeAll(async () => {
    if (server === null) throw new Error("A skipped test must not open its database.");
    const opened = await openServerTestStore(server);
    const { databaseUrl } = opened;
    if (databaseUrl === null) throw new Error("several nodes need PostgreSQL");
    place = { ...opened, databaseUrl };
    a = await openWorldNode(place, key);
    b = await openWorldNode(place, key);
    c = await openWorldNode(place, key, { maxLiveCalls: 1, reservedLiveCalls: 0 });
  });
  afterAll(async () => {
    await Promise.all([a, b, c].map((node) => node.close()));
    await place.remove();
  });

  const nodeOf = async ({ callId }: NodeCall): Promise<string> => {
    const read = await sql<{
      nodeId: string;
    }>`select node_id as "nodeId" from calls where id = ${callId}`.execute(place.db.query);
    return read.rows[0]?.nodeId ?? "";
  };
  const hangUp = async (node: WorldNode, call: NodeCall): Promise<void> => {
    const path = `/api/calls/${call.callId}/send_data_message`;
    expect((await node.ask("POST", path, { type: "hang_up" })).status).toBe(204);
    expect((await node.until(call.callId, "ended"))["endReason"]).toBe("agent_hangup");
  };
  /** Everything of an answer but what differs between two equal requests. */
  const sameOf = ({ status, headers, body }: Answered) => {
    const retryAfter = headers.get("retry-after");
    const { title, detail, code } = body;
    return { status, retryAfter, title, detail, code };
  };

  it("serve a call that another one has made, and all operations on it", async () => {
    const call = await a.makeCall(USER_FIRST);
    const made = await nodeOf(call);
    const path = `/api/calls/${call.callId}/send_data_message`;
    const message = { type: "user_text_message", text: "Hello" };
    // Before the join: the same refusal everywhere.
    const unjoined = await Promise.all([a, b, c].map((node) => node.ask("POST", path, message)));
    expect(unjoined.map(({ status }) => status)).toEqual([422, 422, 422]);
    expect(new Set(unjoined.map((answer) => JSON.stringify(sameOf(answer)))).size).toBe(1);

    const client = await b.join(call);
    await c.until(call.callId, "joined");
    expect(await nodeOf(call)).not.toBe(made);
    // The node that has made it learns that within two seconds, and is right at once.
    expect(await outcomeOf(a.connect(call).socket)).toEqual({ kind: "closed", code: 4409 });
    expect((await a.ask("POST", path, { ...message, urgency: "later" })).status).toBe(204);
    // A message from any node reaches the call, and is answered.
    expect((await c.ask("POST", path, message)).status).toBe(204);
    await expect
      .poll(() => client.of("transcript").some(({ role }) => role === "agent"), { timeout: 30_000 })
      .toBe(true);
    // A running call cannot be deleted, and every node says so in the same way.
    const deletions = await Promise.all(
      [a, b, c].map((node) => node.ask("DELETE", `/api/calls/${call.callId}`)),
    );
    expect(deletions.map(({ status }) => status)).toEqual([425, 425, 425]);
    expect(new Set(deletions.map((answer) => JSON.stringify(sameOf(answer)))).size).toBe(1);
    await hangUp(a, call);
    expect(await client.closed).toBe(1000);
    const ended = await c.ask("POST", path, message);
    expect(ended).toMatchObject({ status: 422, body: { detail: "The call has ended." } });
    expect(await outcomeOf(c.connect(call).socket)).toMatchObject({ kind: "refused", status: 410 });
  });

  it("give a call to one of two joins at the same time, and the other one the answer of a second join", async () => {
    for (let round = 0; round < 3; round += 1) {
      const call = await a.makeCall(USER_FIRST);
      const sockets = [a, b].map((node) => node.connect(call).socket);
      const outcomes = await Promise.all(sockets.map(outcomeOf));
      expect(outcomes.filter(({ kind }) => kind === "open")).toHaveLength(1);
      expect(outcomes).toContainEqual({ kind: "closed", code: 4409 });
      await a.until(call.callId, "joined");
      await hangUp(b, call);
    }
  });

  /** Until the loss of the client is noticed, a join is answered as a second one. */
  const returned = async (node: WorldNode, call: NodeCall): Promise<CallClient> => {
    const open = async (): Promise<CallClient> => {
      const client = node.connect(call);
      expect((await outcomeOf(client.socket)).kind).toBe("open");
      return client;
    };
    const client = await vi.waitFor(open, { timeout: 30_000, interval: 100 });
    client.start();
    return client;
  };

  it("hand a joined call over to the one that gets its client, while its own one runs", async () => {
    const call = await a.makeCall(USER_FIRST);
    const made = await nodeOf(call);
    const client = await b.join(call);
    await a.until(call.callId, "joined");
    // While the client is connected, as at its own node.
    for (const node of [a, b, c]) {
      expect(await outcomeOf(node.connect(call).socket)).toEqual({ kind: "closed", code: 4409 });
    }
    client.stop();
    client.socket.terminate();
    const back = await returned(a, call);
    expect(await nodeOf(call)).toBe(made);
    const path = `/api/calls/${call.callId}`;
    const message = { type: "user_text_message", text: "Hello" };
    expect((await c.ask("POST", `${path}/send_data_message`, message)).status).toBe(204);
    await expect
      .poll(() => back.of("transcript").some(({ role }) => role === "agent"), { timeout: 30_000 })
      .toBe(true);
    // Two nodes ask for it at once.
    back.stop();
    back.socket.terminate();
    await expect.poll(async () => (await back.closed) > 0).toBe(true);
    const sockets = [b, c].map((node) => node.connect(call).socket);
    const outcomes = await Promise.all(sockets.map(outcomeOf));
    expect(outcomes.filter(({ kind }) => kind === "open").length).toBeLessThan(2);
    for (const socket of sockets) socket.terminate();
    const last = await returned(b, call);
    await hangUp(a, call);
    await last.closed;
    const { body } = await c.ask<{ results: { type: string }[] }>("GET", `${path}/events?pageSize=100`);
    const count = (type: string): number => body.results.filter((event) => event.type === type).length;
    expect([count("call.joined"), count("call.ended")]).toEqual([1, 1]);
    expect(count("call.resumed")).toBeGreaterThan(1);
  });

  it("leave a call to another one when they are full", async () => {
    const [first, second] = [await a.makeCall(USER_FIRST), await a.makeCall(USER_FIRST)];
    const one = await c.join(first);
    await a.until(first.callId, "joined");
    expect(await outcomeOf(c.connect(second).socket)).toMatchObject({
      kind: "refused",
      status: 503,
      retryAfter: "2",
      code: "no_capacity",
    });
    const two = await b.join(second);
    await hangUp(b, first);
    await hangUp(c, second);
    await Promise.all([one.closed, two.closed]);
  });

  it("answer offers of WebRTC and their later requests, wherever they come", async () => {
    const call = await a.makeCall(WEB_RTC);
    const path = new URL(call.joinUrl).pathname;
    const peer = loopbackClient();
    peer.addTransceiver("audio");
    peer.createDataChannel("messages");
    await peer.setLocalDescription(await peer.createOffer());
    const offer = peer.localDescription?.sdp ?? "";
    const sdp = { "content-type": "application/sdp" };
    const answered = await b.ask("POST", path, offer, sdp);
    expect(answered.status).toBe(201);
    const connection = new URL(answered.headers.get("location") ?? "").pathname;
    // Not connected yet, so another offer takes its place, at another node.
    const again = await a.ask("POST", path, offer, sdp);
    expect(again.status).toBe(201);
    expect((await b.ask("DELETE", connection)).status).toBe(404);
    const taken = new URL(again.headers.get("location") ?? "").pathname;
    const fragment = { "content-type": "application/trickle-ice-sdpfrag" };
    const candidate = "a=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n";
    for (const node of [a, b]) expect((await node.ask("PATCH", taken, candidate, fragment)).status).toBe(204);
    const unknown = taken.replace(/[^/]+$/, randomUUID());
    for (const node of [a, b]) expect((await node.ask("DELETE", unknown)).status).toBe(404);
    expect((await b.ask("DELETE", taken)).status).toBe(200);
    expect((await a.ask("DELETE", taken)).status).toBe(404);
    await peer.close();
  });

  it("serve a room whose signalling comes to others than the one that has its call", async () => {
    const call = await b.makeCall(WEB_RTC);
    const made = await nodeOf(call);
    const { socket } = a.connect(call);
    const [data] = (await once(socket, "message")) as [Buffer];
    const { roomUrl, token } = JSON.parse(data.toString()) as { roomUrl: string; token: string };
    const roomAt = (node: WorldNode): string => node.urlOf({ callId: call.callId, joinUrl: roomUrl });
    const caller = new RoomCaller();
    onTestFinished(() => caller.close());
    // B has made the call, and A has it since the client came there.
    await caller.join(roomAt(b), token);
    await c.until(call.callId, "joined");
    expect(await nodeOf(call)).not.toBe(made);
    await caller.publish();
    expect(caller.last("answer")?.value.id).toBe(2);
    // The signalling is lost and comes back at a node that has never seen the call.
    caller.loseSignalling();
    const { sid: participantSid = "" } = caller.last("join")?.value.participant ?? {};
    await caller.connect(roomAt(c), token, { reconnect: true, participantSid });
    await caller.renegotiate();
    expect(caller.last("answer")?.value.id).toBe(3);
    caller.say({ type: "user_text_message", text: "Hello" });
    const isAnswered = (): boolean => JSON.stringify(caller.messages).includes('"role":"agent"');
    await expect.poll(isAnswered, { timeout: 30_000 }).toBe(true);
    const closed = once(socket, "close");
    await hangUp(c, call);
    expect((await closed)[0]).toBe(1000);
    // An offer after the end is refused with a message, at any node.
    const late = new RoomCaller();
    onTestFinished(() => late.close());
    await expect(late.join(roomAt(b), token)).rejects.toBeInstanceOf(Error);
    expect(late.last("leave")?.value.reason).toBe(DisconnectReason.ROOM_DELETED);
  });

  it("count the calls of an account exactly", async () => {
    const { accountId } = await createAccount(place.db, "limited");
    await setAccountLimits(place.db, accountId, { allowedConcurrentCalls: 5 });
    const { secret } = await createApiKey(place.db, accountId, {
      name: "k",
      creator: null,
      expiryDate: null,
    });
    const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
    const body = { medium, joinTimeout: "30s" };
    const headers = { "x-api-key": secret };
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? a : b).ask("POST", "/api/calls", body, headers)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(made.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  it("take over the waiting calls of one that has stopped, and their timeouts", async () => {
    const d = await openWorldNode(place, key);
    const [waiting, missed] = [await d.makeCall(USER_FIRST), await d.makeCall({ joinTimeout: "1s" })];
    await d.close();
    const client = await b.join(waiting);
    await a.until(waiting.callId, "joined");
    await hangUp(a, waiting);
    await client.closed;
    expect((await a.until(missed.callId, "ended"))["endReason"]).toBe("unjoined");
    expect(await outcomeOf(b.connect(missed).socket)).toMatchObject({ kind: "refused", status: 410 });
  });

  it("refuse one without NODE_ADDRESS beside them", async () => {
    await expect(openWorldNode(place, key, { nodeAddress: null })).rejects.toThrow(
      /Set NODE_ADDRESS for each of them, such as http:\/\/10\.0\.0\.5:8090/,
    );
  });
});
