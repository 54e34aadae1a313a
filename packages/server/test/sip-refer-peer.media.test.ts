/**
 * Real peers and the rules of an account: baresip behind kamailio as the trunk transfers a call by REFER, and baresip over
 * TLS is dialled with and without SRTP.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { HAS_BARESIP, startBaresip, type Baresip } from "./peers/baresip.ts";
import { HAS_OPENSSL } from "./peers/certificates.ts";
import { HAS_KAMAILIO, startKamailio } from "./peers/kamailio.ts";
import { CALLER, openSipRunning, PATIENT, type SipRunning } from "./peers/sip-running.ts";
import { openSipPhone } from "./sip-phone.ts";

const HAS_PEERS = HAS_BARESIP && HAS_KAMAILIO && HAS_OPENSSL;
if (!HAS_PEERS)
  process.stderr.write("skipped: SIP rules with baresip and kamailio (Debian: baresip-core, kamailio)\n");

const ACCOUNT = { username: "4930777", password: "a good password" };
const FIRST = "+4930888";
const NEXT = "+4930999";
const LOUD = 1_000;
/** Loud samples of the agent's recording: half a second at 8 kHz. */
const LEAST_LOUD = 4_000;

describe.skipIf(!HAS_PEERS)("the SIP rules of an account", () => {
  let running: SipRunning;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    await initResampler(process);
    running = await openSipRunning();
  });

  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await rules({ incomingRefer: null, dialledSrtp: null });
    await running.service.ask("PATCH", "/api/accounts/me/dialling_rules", { allowedPrefixes: [] });
  });

  afterAll(() => running.close());

  async function rules(changed: object): Promise<void> {
    const answer = await running.service.ask("PATCH", "/api/sip/rules", changed);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
  }

  async function baresip(options: Omit<Parameters<typeof startBaresip>[0], "speech" | "codecs">) {
    const phone = await startBaresip({ speech: CALLER, codecs: ["g711"], ...options });
    closing.push(() => phone.close());
    return phone;
  }

  const typesOf = async (callId: string): Promise<string[]> =>
    (await running.service.events(callId)).map(({ type }) => type);

  test("let a phone transfer the call through the trunk: the agent greets the next person and hears them", async () => {
    const next = await openSipPhone();
    closing.push(() => next.close());
    const first = await baresip({ user: FIRST, host: "localhost" });
    const trunk = await startKamailio({
      account: ACCOUNT,
      certificate: running.authority.issue("trunk", ["DNS:localhost"]),
      authorityFile: running.authority.authorityFile,
      phones: new Map([
        [FIRST, first.port],
        [NEXT, next.port],
      ]),
    });
    closing.push(() => trunk.close());
    const allowed = await running.service.ask("PATCH", "/api/accounts/me/dialling_rules", {
      allowedPrefixes: ["+49"],
    });
    expect(allowed.status).toBe(200);
    await rules({ incomingRefer: "follow" });
    const settings = { firstSpeakerSettings: { agent: {} } };
    const callId = await running.dial(`sip:${FIRST}@127.0.0.1:${String(trunk.port)}`, settings, {
      ...ACCOUNT,
      from: `sip:${ACCOUNT.username}@localhost`,
    });
    await first.reported("CALL_INCOMING");
    await first.command("accept");
    await running.agentHasSpoken(callId);

    // The host is that of nobody: the number is called at the trunk.
    await first.command("transfer", `sip:${NEXT}@elsewhere.example`);
    const invite = await next.invited();
    expect([invite.user, invite.headers.some(({ name }) => name === "record-route")]).toEqual([NEXT, true]);
    expect(invite.headers.map(({ name }) => name)).not.toContain("proxy-authorization");
    const taken = await next.answer(invite);
    // baresip leaves when it is told that the other phone has answered.
    await first.reported("CALL_CLOSED");
    await vi.waitFor(() => {
      const isLoud = taken.record.samples().filter((sample) => Math.abs(sample) > LOUD);
      expect(isLoud.length).toBeGreaterThan(LEAST_LOUD);
    }, PATIENT);
    await running.understands(callId, await running.userMessages(callId), () => taken.say(CALLER));
    expect(await typesOf(callId)).toEqual(expect.arrayContaining(["sip.transferring", "sip.transferred"]));
    taken.call?.hangUp();
    expect((await running.service.ended(callId)).endReason).toBe("hangup");
  });

  test("let a phone know that its transfer is refused", async () => {
    const first = await baresip({});
    const callId = await running.dial(`sip:phone@127.0.0.1:${String(first.port)}`, {
      firstSpeakerSettings: { agent: {} },
    });
    await first.reported("CALL_INCOMING");
    await first.command("accept");
    await running.agentHasSpoken(callId);
    await first.command("transfer", `sip:${NEXT}@127.0.0.1`);
    const { param } = await first.reported("TRANSFER_FAILED");
    expect(param).toContain("603");
    // baresip 1.0 ends the call itself then.
    expect((await running.service.ended(callId)).endReason).toBe("hangup");
  });

  const overTls = async (account: string | null): Promise<Baresip> => {
    const own = running.authority.issue("phone", ["DNS:localhost"]);
    const tls = { certificateFile: own.bothFile, authorityFile: running.authority.authorityFile };
    return baresip(account === null ? { tls } : { tls, account });
  };

  async function dialled(dialledSrtp: string, phone: "SRTP alone" | "no SRTP") {
    await rules({ dialledSrtp });
    const callee = await overTls(phone === "no SRTP" ? null : "mediaenc=srtp-mand");
    const callId = await running.dial(`sip:phone@localhost:${String(callee.port + 1)};transport=tls`, {
      firstSpeakerSettings: { user: {} },
    });
    return { callee, callId };
  }

  test.each([
    ["required", "SRTP alone", true, false],
    ["preferred", "SRTP alone", true, false],
    ["preferred", "no SRTP", false, true],
    ["off", "no SRTP", false, false],
  ] as const)(
    "make SRTP %s for a phone with %s, which talks encrypted: %s, after a second call: %s",
    async (dialledSrtp, phone, isEncrypted, isSecond) => {
      const { callee, callId } = await dialled(dialledSrtp, phone);
      await callee.reported("CALL_INCOMING");
      await callee.command("accept");
      // The phone's microphone has the recorded speech, which the agent answers.
      await running.understands(callId, 0);
      await running.agentHasSpoken(callId);
      await callee.command("hangup");
      expect((await running.service.ended(callId)).endReason).toBe("hangup");
      expect(callee.log.includes("SRTP is Enabled")).toBe(isEncrypted);
      expect((await typesOf(callId)).includes("sip.unencrypted")).toBe(isSecond);
    },
  );

  test.each([
    ["required", "no SRTP"],
    ["off", "SRTP alone"],
  ] as const)("make SRTP %s, so that a phone with %s does not ring", async (dialledSrtp, phone) => {
    const { callee, callId } = await dialled(dialledSrtp, phone);
    expect((await running.service.ended(callId)).endReason).toBe("unjoined");
    await vi.waitFor(async () => {
      const failed = await running.events(callId, "sip.failed");
      expect(failed).toMatchObject([{ extras: { termination: "REJECTED" } }]);
    }, PATIENT);
    expect(callee.events.filter(({ type }) => type === "CALL_INCOMING")).toEqual([]);
    expect(await typesOf(callId)).not.toContain("sip.unencrypted");
  });
});
