import { describe, expect, it } from "vitest";
import { ScriptedPeer } from "../testing/scripted-peer.ts";
import { SipWorld } from "../testing/sip-world.ts";
import type { RegistrationState } from "../user-agent.ts";
import { MAX_RAISES } from "./registration.ts";

async function open() {
  const world = new SipWorld();
  const us = await world.agent("127.0.0.1");
  const registrar = new ScriptedPeer(world, "127.0.0.2");
  const states: RegistrationState[] = [];
  const registration = us.agent.register(
    { id: "reg-1", username: "alice", password: "secret", authUser: "auth-alice", registrar: "127.0.0.2" },
    { changed: (state) => void states.push(state) },
  );
  await world.clock.advance(100);
  const contact = (): string => /Contact: (<[^>]+>)/.exec(registrar.requests.at(-1) ?? "")?.[1] ?? "";
  const grant = async (seconds: number) => {
    registrar.answer("REGISTER", 200, "OK", [
      `Contact: <sip:other@127.0.0.9>;expires=9, ${contact()};expires=${String(seconds)}`,
    ]);
    await world.clock.advance(100);
  };
  return { world, us, registrar, registration, states, contact, grant };
}

describe("a registration", () => {
  it("answers the challenge, and is refreshed before it ends", async () => {
    const { world, registrar, states, grant } = await open();
    registrar.answer("REGISTER", 401, "Unauthorized", [
      'WWW-Authenticate: Digest realm="r", nonce="1", qop="auth"',
    ]);
    await world.clock.advance(100);
    expect(registrar.requests.at(-1)).toMatch(
      /CSeq: 2 REGISTER[^]*Authorization: Digest username="auth-alice"/,
    );
    await grant(100);
    expect(states).toEqual([
      { successful: true, status: 200, reason: "OK", nextInMs: 50_000, address: "127.0.0.2" },
    ]);
    await world.clock.advance(49_000);
    expect(registrar.requests).toHaveLength(2);
    await world.clock.advance(1_000);
    expect(registrar.requests.at(-1)).toMatch(/CSeq: 3 REGISTER[^]*nc=00000002/);
    await grant(0);
    // A registrar cannot make us ask it all the time.
    expect(states.at(-1)?.nextInMs).toBe(15_000);
  });

  it("waits longer after each failure", async () => {
    const { world, registrar, states } = await open();
    for (const waitMs of [30_000, 60_000, 120_000]) {
      registrar.answer("REGISTER", 403, "Forbidden", []);
      await world.clock.advance(100);
      expect(states.at(-1)).toEqual({
        successful: false,
        status: 403,
        reason: "Forbidden",
        nextInMs: waitMs,
        address: "127.0.0.2",
      });
      await world.clock.advance(waitMs);
    }
    registrar.answer("REGISTER", 503, "Service Unavailable", ["Retry-After: 3600"]);
    await world.clock.advance(100);
    expect(states.at(-1)?.nextInMs).toBe(3_600_000);
  });

  it("says that nobody answers", async () => {
    const { world, states } = await open();
    await world.clock.advance(32_000);
    expect(states).toEqual([
      { successful: false, status: 408, reason: "No response", nextInMs: 30_000, address: null },
    ]);
  });

  it("asks for the interval that the registrar wants", async () => {
    const { world, registrar } = await open();
    registrar.answer("REGISTER", 423, "Interval Too Brief", ["Min-Expires: 3600"]);
    await world.clock.advance(100);
    expect(registrar.requests.at(-1)).toContain("Expires: 3600");
  });

  it("waits as after a failure when the registrar wants longer and longer intervals", async () => {
    const { world, registrar } = await open();
    for (let expires = 1_000; expires < 1_010; expires += 1) {
      registrar.answer("REGISTER", 423, "Interval Too Brief", [`Min-Expires: ${String(expires)}`]);
      await world.clock.advance(100);
    }
    expect(registrar.requests.filter((text) => text.startsWith("REGISTER "))).toHaveLength(1 + MAX_RAISES);
    await world.clock.advance(31_000);
    expect(registrar.requests).toHaveLength(2 + MAX_RAISES);
  });

  it("is removed when it is closed", async () => {
    const { world, registrar, registration, grant } = await open();
    await grant(600);
    const closing = registration.close();
    await world.clock.advance(100);
    expect(registrar.requests.at(-1)).toMatch(/Contact: [^\r]*;expires=0\r\nExpires: 0/);
    registrar.answer("REGISTER", 200, "OK", []);
    await world.clock.advance(100);
    await closing;
    await world.clock.advance(60_000);
    expect(world.clock.pending()).toBe(0);
  });

  it("keeps the way through an address translation open", async () => {
    const { world, registration, grant } = await open();
    await grant(600);
    await world.clock.advance(100_000);
    const empty = () => world.network.carried.filter(({ text }) => text.trim() === "").length;
    expect(empty()).toBe(4);
    void registration.close();
    await world.clock.advance(100_000);
    expect(empty()).toBe(4);
  });

  it("is named by the calls that come by it", async () => {
    const { world, us, registrar, contact, grant } = await open();
    await grant(600);
    const uri = contact().slice(1, -1);
    expect(uri).toMatch(/^sip:alice-[0-9a-f]+@127\.0\.0\.1:5060$/);
    const invite = (target: string, callId: string) =>
      [
        `INVITE ${target} SIP/2.0`,
        `Via: SIP/2.0/UDP 127.0.0.2:5060;branch=z9hG4bK${callId}`,
        "From: <sip:bob@127.0.0.2>;tag=b",
        "To: <sip:alice@127.0.0.2>",
        `Call-ID: ${callId}`,
        "CSeq: 1 INVITE",
        "Contact: <sip:bob@127.0.0.2>",
        "Content-Length: 0",
        "",
        "",
      ].join("\r\n");
    registrar.send("127.0.0.1:5060", invite(uri, "one"));
    registrar.send("127.0.0.1:5060", invite("sip:alice-0@127.0.0.1", "two"));
    await world.clock.advance(100);
    const found = us.invites.map(({ registrationId, user, offer }) => [registrationId, user, offer]);
    expect(found).toHaveLength(2);
    expect(found).toContainEqual(["reg-1", "alice", null]);
    expect(found).toContainEqual([null, "alice-0", null]);
  });
});

describe("a ping", () => {
  it("gives the status, or why there is none", async () => {
    const { world, us, registrar } = await open();
    const pinged = us.agent.ping({ id: "p", to: "sip:127.0.0.2" });
    await world.clock.advance(100);
    registrar.answer("OPTIONS", 404, "Not Found", []);
    await world.clock.advance(100);
    expect(await pinged).toEqual({
      kind: "response",
      status: 404,
      reason: "Not Found",
      peer: { transport: "udp", address: "127.0.0.2", port: 5060 },
      realm: null,
      software: null,
    });
    const silent = us.agent.ping({ id: "q", to: "sip:127.0.0.99", limitMs: 4_000 });
    await world.clock.advance(4_001);
    expect(await silent).toMatchObject({
      kind: "failed",
      failure: {
        cause: "timeout",
        status: 408,
        tried: { transport: "udp", address: "127.0.0.99", port: 5060 },
      },
    });
    const logged = us.logs.filter(({ id }) => id === "p");
    expect(logged.map(({ kind, own }) => [kind, own])).toEqual([
      ["ping", { address: "127.0.0.1", port: 5060 }],
      ["ping", { address: "127.0.0.1", port: 5060 }],
    ]);
    await world.clock.advance(40_000);
    expect(registrar.requests.filter((text) => text.startsWith("OPTIONS"))).toHaveLength(1);
  });

  it("asks a registrar what is registered, with the password, and registers nothing", async () => {
    const { world, us, registrar } = await open();
    const asked = us.agent.ping({
      id: "p",
      to: "sip:127.0.0.2",
      register: { username: "bob" },
      credentials: { username: "bob", password: "wrong" },
    });
    await world.clock.advance(100);
    for (const nonce of ["1", "2"]) {
      registrar.answer("REGISTER", 401, "Unauthorized", [
        `WWW-Authenticate: Digest realm="pbx.example", nonce="${nonce}"`,
        "Server: PBX 1",
      ]);
      await world.clock.advance(100);
    }
    const [first = "", second = ""] = registrar.requests.filter((text) => text.includes("sip:bob@"));
    expect(first).not.toMatch(/^(?:Contact|Expires):/im);
    expect(second).toMatch(/CSeq: 2 REGISTER[^]*Authorization: Digest username="bob"/);
    expect(await asked).toMatchObject({ status: 401, realm: "pbx.example", software: "PBX 1" });
  });
});
