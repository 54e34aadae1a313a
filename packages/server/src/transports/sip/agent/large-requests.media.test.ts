/** Requests that are too long for a datagram, over real sockets. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { openLoopbackAgent } from "../testing/loopback-agent.ts";
import { CallRecord, inviteOptions, InviteRecord, SDP_ANSWER } from "../testing/sip-world.ts";
import type { IncomingInvite, UserAgentListener } from "../user-agent.ts";

const WAIT = { timeout: 60_000, interval: 20 };
const LONG = [{ name: "X-Long", value: "x".repeat(1_500) }];

async function agent(invited: UserAgentListener["invited"] = () => undefined) {
  const opened = await openLoopbackAgent({
    invited,
    logged: () => undefined,
    faulted: (error) => {
      throw error;
    },
  });
  onTestFinished(() => opened.close());
  return opened;
}

const toPort = (port: number): string => `sip:agent@127.0.0.1:${String(port)}`;

test("a long request goes over TCP although the address names none, and a short one does not", async () => {
  const invites: IncomingInvite[] = [];
  const records: CallRecord[] = [];
  const called = await agent((invite) => {
    invites.push(invite);
    const record = new CallRecord();
    records.push(record);
    invite.accept(SDP_ANSWER, record);
  });
  const port = called.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
  const calling = await agent();
  for (const headers of [[], LONG]) {
    const caller = new InviteRecord();
    calling.invite(inviteOptions({ to: toPort(port), headers }), caller);
    await vi.waitFor(() => expect(caller.events.at(-1)).toBe("answered"), WAIT);
    caller.call?.hangUp();
    await vi.waitFor(() => expect(records.at(-1)?.end?.cause).toBe("remote"), WAIT);
  }
  expect(invites.map(({ source }) => source.transport)).toEqual(["udp", "tcp"]);
});

test("a peer without TCP, or that says nothing over it, gets a long request over UDP", async () => {
  for (const isSilentOverTcp of [false, true]) {
    const socket = createSocket("udp4");
    onTestFinished(() => void socket.close());
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address();
    if (isSilentOverTcp) {
      const silent = createServer();
      onTestFinished(() => void silent.close());
      silent.on("connection", (connection) => {
        onTestFinished(() => void connection.destroy());
      });
      silent.listen(port, "127.0.0.1");
      await once(silent, "listening");
    }
    const received = once(socket, "message");
    const calling = await agent();
    const caller = new InviteRecord();
    const invite = calling.invite(inviteOptions({ to: toPort(port), headers: LONG }), caller);
    const [datagram] = (await received) as [Buffer];
    expect(datagram.toString("latin1")).toMatch(/^INVITE [^]*Via: SIP\/2\.0\/UDP[^]*X-Long: x{1500}/i);
    invite.cancel();
  }
});
