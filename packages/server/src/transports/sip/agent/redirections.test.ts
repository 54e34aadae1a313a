import { describe, expect, it } from "vitest";
import { parseUri } from "../message/uri.ts";
import { ScriptedPeer } from "../testing/scripted-peer.ts";
import { inviteOptions, InviteRecord, SipWorld } from "../testing/sip-world.ts";
import type { IncomingInvite, OutgoingInviteOptions } from "../user-agent.ts";
import { keepsPassword } from "./outgoing-call.ts";

async function open(
  options: Partial<OutgoingInviteOptions> = {},
  invited?: (invite: IncomingInvite) => void,
) {
  const world = new SipWorld();
  const us = await world.agent("127.0.0.1");
  const peer = invited === undefined ? null : await world.agent("127.0.0.2", invited);
  const caller = new InviteRecord();
  const invite = us.agent.invite(inviteOptions(options), caller);
  return { world, us, peer, caller, invite };
}

describe("a redirection", () => {
  const moved = (to: string) => (invite: IncomingInvite) => {
    invite.reject(302, undefined, [{ name: "x-moved", value: to }]);
  };

  it("is not followed without permission", async () => {
    const { world, caller } = await open({}, moved("a"));
    await world.clock.advance(1_000);
    expect(caller.failure).toMatchObject({ cause: "response", status: 302 });
  });

  it("is followed once, and no password is sent to another host", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const first = new ScriptedPeer(world, "127.0.0.2");
    const second = new ScriptedPeer(world, "127.0.0.3");
    const caller = new InviteRecord();
    const asked: string[] = [];
    us.agent.invite(
      inviteOptions({
        credentials: { username: "u", password: "p" },
        mayRedirectTo: (uri) => asked.push(uri) > 0,
      }),
      caller,
    );
    await world.clock.advance(100);
    first.answer("INVITE", 302, "Moved", ["Contact: <sip:other@127.0.0.3?X-Evil=1>"]);
    await world.clock.advance(100);
    expect(asked).toEqual(["sip:other@127.0.0.3"]);
    second.answer("INVITE", 401, "Unauthorized", ['WWW-Authenticate: Digest realm="r", nonce="n"']);
    await world.clock.advance(100);
    expect(caller.failure).toMatchObject({ cause: "response", status: 401 });
    expect(second.requests.join("\n")).not.toContain("Authorization");
  });

  it.each([
    ["sip:1@127.0.0.2", "sip:2@127.0.0.2", true],
    ["sip:1@127.0.0.2", "sip:2@127.0.0.2:5060;transport=tcp", true],
    ["sip:1@127.0.0.2", "sip:2@127.0.0.2:5070", false],
    ["sip:1@127.0.0.2", "sips:2@127.0.0.2", true],
    ["sip:1@127.0.0.2", "sip:2@127.0.0.2:6061;transport=tls", false],
    ["sip:1@127.0.0.2;transport=tls", "sip:2@127.0.0.2", false],
    ["sips:1@127.0.0.2", "sip:2@127.0.0.2:5061;transport=udp", false],
    ["sips:1@127.0.0.2", "sip:2@127.0.0.2;transport=TLS", true],
  ])("from %s to %s has the password: %s", (first, second, isKept) => {
    const [one, other] = [parseUri(first), parseUri(second)];
    if (one === null || other === null) throw new Error("no URI");
    expect(keepsPassword(one, other)).toBe(isKept);
  });

  it("to another port of the host does not get the password", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const first = new ScriptedPeer(world, "127.0.0.2");
    const second = new ScriptedPeer(world, "127.0.0.2", 5070);
    const credentials = { username: "u", password: "p" };
    us.agent.invite(inviteOptions({ credentials, mayRedirectTo: () => true }), new InviteRecord());
    await world.clock.advance(100);
    first.answer("INVITE", 302, "Moved", ["Contact: <sip:other@127.0.0.2:5070>"]);
    await world.clock.advance(100);
    second.answer("INVITE", 401, "Unauthorized", ['WWW-Authenticate: Digest realm="r", nonce="n"']);
    await world.clock.advance(100);
    expect(second.requests.length).toBeGreaterThan(0);
    expect(second.requests.join("\n")).not.toContain("Authorization");
  });

  it("is not followed a second time", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const first = new ScriptedPeer(world, "127.0.0.2");
    const second = new ScriptedPeer(world, "127.0.0.3");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions({ mayRedirectTo: () => true }), caller);
    await world.clock.advance(100);
    first.answer("INVITE", 302, "Moved", ["Contact: <sip:other@127.0.0.3>"]);
    await world.clock.advance(100);
    second.answer("INVITE", 302, "Moved", ["Contact: <sip:other@127.0.0.2>"]);
    await world.clock.advance(100);
    expect(caller.failure).toMatchObject({ cause: "response", status: 302 });
  });
});
