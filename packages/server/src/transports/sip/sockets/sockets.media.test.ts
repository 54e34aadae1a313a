/** The user agent over real sockets of the loopback address. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { UserAgentOptions } from "../agent/open-user-agent.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../testing/certificate.ts";
import { openLoopbackAgent } from "../testing/loopback-agent.ts";
import { MAX_REFUSED_IN_A_ROW } from "./stream-connection.ts";
import { CallRecord, inviteOptions, InviteRecord, NO_DNS, SDP_ANSWER } from "../testing/sip-world.ts";
import type { SipUserAgent } from "../user-agent.ts";

/** Reached only when something is wrong. */
const WAIT = { timeout: 60_000, interval: 20 };

const OPTIONS = (n: number, transport = "TCP"): string =>
  [
    "OPTIONS sip:127.0.0.1 SIP/2.0",
    `Via: SIP/2.0/${transport} 127.0.0.1:9;rport;branch=z9hG4bK${String(n)}`,
    "From: <sip:a@127.0.0.1>;tag=a",
    "To: <sip:127.0.0.1>",
    `Call-ID: ${String(n)}`,
    "CSeq: 1 OPTIONS",
    "Content-Length: 0",
    "",
    "",
  ].join("\r\n");

describe("sockets", () => {
  const agents: SipUserAgent[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
  });

  async function open(options: Partial<UserAgentOptions> = {}) {
    const records: CallRecord[] = [];
    const faults: Error[] = [];
    const agent = await openLoopbackAgent(
      {
        invited: (invite) => {
          const record = new CallRecord();
          records.push(record);
          record.call = invite.accept(SDP_ANSWER, record);
        },
        logged: () => undefined,
        faulted: (error) => void faults.push(error),
      },
      options,
    );
    agents.push(agent);
    const portOf = (wanted: string) => agent.bound.find(({ transport }) => transport === wanted)?.port ?? 0;
    return { agent, records, faults, portOf };
  }

  async function dial(port: number): Promise<{ readonly socket: Socket; readonly text: () => string }> {
    const socket = connect({ host: "127.0.0.1", port });
    sockets.push(socket);
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("utf8")));
    // A connection that is refused by the agent is reset.
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return { socket, text: () => text };
  }

  it("make calls over TCP, which both sides can end", async () => {
    const callee = await open();
    const caller = await open();
    const to = `sip:agent@127.0.0.1:${String(callee.portOf("tcp"))};transport=tcp`;
    const record = new InviteRecord();
    caller.agent.invite(inviteOptions({ to }), record);
    await vi.waitFor(() => {
      expect(record.events).toEqual(["answered"]);
    }, WAIT);
    callee.records[0]?.call?.hangUp();
    await vi.waitFor(() => {
      expect(record.record.end?.cause).toBe("remote");
    }, WAIT);
    expect([callee.faults, caller.faults]).toEqual([[], []]);
  });

  it("make calls over TLS, to the name of the certificate alone", async () => {
    const tls = { port: 0, certificate: TEST_CERTIFICATE, key: TEST_KEY };
    const callee = await open({ tls });
    const caller = await open({
      tls: { port: 0, certificate: null, key: null, authorities: TEST_CERTIFICATE },
      dns: { ...NO_DNS, addresses: () => Promise.resolve(["127.0.0.1"]) },
    });
    const call = async (host: string) => {
      const record = new InviteRecord();
      caller.agent.invite(
        inviteOptions({ to: `sips:agent@${host}:${String(callee.portOf("tls"))}` }),
        record,
      );
      await vi.waitFor(() => {
        expect(record.isOver).toBe(true);
      }, WAIT);
      return record;
    };
    expect((await call("other.example")).failure).toMatchObject({
      cause: "unreachable",
      status: 503,
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
    const record = await call("trunk.example");
    expect(record.events).toEqual(["answered"]);
    record.call?.hangUp();
    await vi.waitFor(() => {
      expect(callee.records[0]?.end?.cause).toBe("remote");
    }, WAIT);
  });

  it("answer keep-alives and messages that come in pieces", async () => {
    const { portOf } = await open();
    const { socket, text } = await dial(portOf("tcp"));
    socket.write("\r\n\r\n");
    await vi.waitFor(() => {
      expect(text()).toBe("\r\n");
    }, WAIT);
    for (const piece of OPTIONS(1).match(/[^]{1,40}/g) ?? []) socket.write(piece);
    await vi.waitFor(() => {
      expect(text()).toContain("SIP/2.0 200 OK");
    }, WAIT);
  });

  it("close a stream that is not SIP", async () => {
    const { portOf } = await open();
    const { socket } = await dial(portOf("tcp"));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "close");
    expect(socket.destroyed).toBe(true);
  });

  it("take twenty connections of an address that is not known", async () => {
    const { portOf } = await open({ isKnown: () => false });
    const dialled = await Promise.all(Array.from({ length: 25 }, () => dial(portOf("tcp"))));
    await vi.waitFor(() => {
      expect(dialled.filter(({ socket }) => socket.destroyed)).toHaveLength(5);
    }, WAIT);
  });

  it("count the handshakes of TLS for their source, and let others in while they wait", async () => {
    const tls = { port: 0, certificate: TEST_CERTIFICATE, key: TEST_KEY };
    const { portOf } = await open({ tls, isKnown: () => false });
    // None of them says anything, so that every handshake is under way.
    const dialled = await Promise.all(Array.from({ length: 25 }, () => dial(portOf("tls"))));
    await vi.waitFor(() => {
      expect(dialled.filter(({ socket }) => socket.destroyed)).toHaveLength(5);
    }, WAIT);
    // The same source has no connection left over TCP either, until a handshake is given up.
    const refused = await dial(portOf("tcp"));
    await vi.waitFor(() => {
      expect(refused.socket.destroyed).toBe(true);
    }, WAIT);
    for (const { socket } of dialled) socket.destroy();
    await vi.waitFor(async () => {
      const next = await dial(portOf("tcp"));
      next.socket.write(OPTIONS(1));
      await Promise.race([once(next.socket, "data"), once(next.socket, "close")]);
      expect(next.text()).toContain("SIP/2.0 200 OK");
    }, WAIT);
  });

  it("close a connection that goes on sending what is not read, and no other one", async () => {
    const rates = { perSecond: 0, burst: 10 };
    const floodLimits = { unknown: rates, known: rates, allUnknown: { perSecond: 0, burst: 1_000 } };
    const { portOf } = await open({ isKnown: () => false, floodLimits });
    const quiet = await dial(portOf("tcp"));
    const { socket, text } = await dial(portOf("tcp"));
    for (let n = 0; n < 10 + MAX_REFUSED_IN_A_ROW; n += 1) socket.write(OPTIONS(n));
    await vi.waitFor(() => {
      expect(text().match(/SIP\/2\.0 200 OK/g)).toHaveLength(10);
    }, WAIT);
    expect(socket.destroyed).toBe(false);
    // Keep-alives count as messages.
    socket.write("\r\n\r\n");
    await once(socket, "close");
    expect(quiet.socket.destroyed).toBe(false);
  });

  it("drop the messages of a flood before they are read", async () => {
    const rates = { perSecond: 0, burst: 10 };
    const floodLimits = { unknown: rates, known: rates, allUnknown: { perSecond: 0, burst: 1_000 } };
    const { portOf } = await open({ isKnown: () => false, floodLimits });
    const socket = createSocket("udp4");
    let answers = 0;
    socket.on("message", () => (answers += 1));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    for (let n = 0; n < 200; n += 1) socket.send(OPTIONS(n, "UDP"), portOf("udp"), "127.0.0.1");
    await vi.waitFor(() => {
      expect(answers).toBe(10);
    }, WAIT);
    socket.close();
  });

  it("say that a port answers nothing", async () => {
    const { agent, portOf } = await open();
    const free = await open();
    const port = free.portOf("tcp");
    await free.agent.close();
    expect(portOf("udp")).not.toBe(port);
    const outcome = await agent.ping({ id: "p", to: `sip:127.0.0.1:${String(port)};transport=tcp` });
    expect(outcome).toMatchObject({
      kind: "failed",
      failure: {
        cause: "unreachable",
        status: 503,
        code: "ECONNREFUSED",
        tried: { transport: "tcp", address: "127.0.0.1", port },
      },
    });
  });
});
