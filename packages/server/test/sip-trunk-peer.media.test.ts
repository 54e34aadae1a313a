/** kamailio as the trunk of the assembled service: registrations, and calls both ways through its proxy. */

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { HAS_OPENSSL } from "./peers/certificates.ts";
import { HAS_KAMAILIO, startKamailio, type Kamailio } from "./peers/kamailio.ts";
import { openSipRunning, PATIENT } from "./peers/sip-running.ts";
import type { SipRunning } from "./peers/sip-running.ts";
import { openSipPhone, type PhoneCall, type SipPhone } from "./sip-phone.ts";

const HAS_PEER = HAS_KAMAILIO && HAS_OPENSSL;
if (!HAS_PEER)
  process.stderr.write("skipped: SIP calls by kamailio (Debian: kamailio, kamailio-tls-modules, openssl)\n");

const ACCOUNT = { username: "4930777", password: "a good password" };

describe.skipIf(!HAS_PEER)("a trunk", () => {
  let running: SipRunning;
  let trunk: Kamailio;
  let phone: SipPhone;

  beforeAll(async () => {
    await initResampler(process);
    running = await openSipRunning();
    phone = await openSipPhone();
    trunk = await startKamailio({
      account: ACCOUNT,
      certificate: running.authority.issue("trunk", ["DNS:localhost"]),
      authorityFile: running.authority.authorityFile,
      phones: new Map([["outside", phone.port]]),
    });
  });

  afterAll(async () => {
    await phone.close();
    await running.close();
    await trunk.close();
  });

  const answered = (call: PhoneCall): Promise<void> =>
    vi.waitFor(() => expect([call.failure, call.call !== null]).toEqual([null, true]), PATIENT);

  const ended = (call: PhoneCall): Promise<void> =>
    vi.waitFor(() => expect(call.end?.cause).toBe("remote"), PATIENT);

  async function register(proxy: string, changes: object = {}) {
    const body = { ...ACCOUNT, proxy, ...changes };
    const made = await running.service.ask<{ registrationId: string }>(
      "POST",
      "/api/sip/registrations",
      body,
    );
    expect([made.status, made.body]).toEqual([201, made.body]);
    return `/api/sip/registrations/${made.body.registrationId}`;
  }

  /** As the log says it. */
  const registrationHasFailed = (path: string, reason: string): Promise<void> =>
    vi.waitFor(() => {
      const id = path.split("/").at(-1) ?? "";
      const lines = running.service.linesLogged.filter((line) => line.includes(id));
      expect(lines.join()).toContain("a SIP registration has failed");
      expect(lines.join()).toContain(reason);
    }, PATIENT);

  const agentIsHeard = (call: PhoneCall, callId: string): Promise<void> =>
    running.agentIsHeard(callId, () => ({ samples: call.record.samples(), rateHz: call.rateHz }));

  test.each([
    ["over UDP", () => `127.0.0.1:${String(trunk.port)}`],
    [
      "over TLS, by the name of its certificate",
      () => `sip:localhost:${String(trunk.tlsPort)};transport=tls`,
    ],
  ])("passes on a call by our registration %s", async (_how, proxy) => {
    running.recorded.heard.splice(0);
    const agentId = await running.newAgent();
    // Nobody may call but by the registration.
    const allowedAgents = [{ agentId, toUserPattern: ACCOUNT.username }];
    await running.configure({ allowedCidrRanges: ["192.0.2.0/24"], allowedAgents });
    const path = await register(proxy());
    await vi.waitFor(async () => {
      expect(await running.service.get(path)).toMatchObject({ successful: true });
    }, PATIENT);
    const call = await phone.call(`sip:${ACCOUNT.username}@localhost`, trunk.port);
    await answered(call);
    const callId = await running.callOf(agentId);
    await running.hears(call);
    await agentIsHeard(call, callId);
    for (const isHolding of [true, false]) {
      const outcome = await call.call?.offer(call.media?.offer({ isHolding }) ?? "");
      expect(outcome?.kind).toBe("answered");
      if (outcome?.kind === "answered") call.media?.accept(outcome.sdp);
    }
    // The BYE of the service takes the way of the proxy as well.
    const hangUp = { type: "hang_up", message: "" };
    await running.service.ask("POST", `/api/calls/${callId}/send_data_message`, hangUp);
    await ended(call);
    expect((await running.service.ended(callId)).endReason).toBe("agent_hangup");
    expect((await running.service.ask("DELETE", path)).status).toBe(204);
  });

  test("passes on a call of ours that has the password, and hears its end", async () => {
    const settings = { firstSpeakerSettings: { agent: {} } };
    const callId = await running.dial(`sip:outside@127.0.0.1:${String(trunk.port)}`, settings, {
      ...ACCOUNT,
      from: `sip:${ACCOUNT.username}@localhost`,
    });
    const invite = await phone.invited();
    // It came through the proxy, without the password.
    const names = invite.headers.map(({ name }) => name);
    expect(names).toContain("record-route");
    expect(names).not.toContain("proxy-authorization");
    const call = await phone.answer(invite);
    await agentIsHeard(call, callId);
    call.call?.hangUp();
    expect((await running.service.ended(callId)).endReason).toBe("hangup");
  });

  test("refuses a wrong password, and the call and the log of the registration say so", async () => {
    const to = `sip:outside@127.0.0.1:${String(trunk.port)}`;
    const wrong = { username: ACCOUNT.username, password: "wrong" };
    const callId = await running.dial(to, {}, { ...wrong, from: `sip:${ACCOUNT.username}@localhost` });
    expect((await running.service.ended(callId)).endReason).toBe("unjoined");
    await vi.waitFor(async () => {
      expect(JSON.stringify(await running.events(callId, "sip.failed"))).toContain("REJECTED");
    }, PATIENT);
    const path = await register(`127.0.0.1:${String(trunk.port)}`, wrong);
    await registrationHasFailed(path, "401");
    expect(await running.service.get(path)).toMatchObject({ successful: false });
    expect((await running.service.ask("DELETE", path)).status).toBe(204);
  });

  test("is not registered at over TLS when its certificate has another name", async () => {
    const path = await register(`sip:127.0.0.1:${String(trunk.tlsPort)};transport=tls`);
    await registrationHasFailed(path, "is not valid for the name");
    expect((await running.service.ask("DELETE", path)).status).toBe(204);
  });
});
