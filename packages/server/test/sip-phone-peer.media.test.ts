/** baresip and the assembled service: conversations with recorded speech, keys, hold, TLS and SRTP. */

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { aligned } from "../src/media/testing/likeness.ts";
import { type Baresip, HAS_BARESIP, startBaresip, type BaresipOptions } from "./peers/baresip.ts";
import { HAS_OPENSSL } from "./peers/certificates.ts";
import { AGENT, CALLER, LIKE, openSipRunning, PATIENT, recording } from "./peers/sip-running.ts";
import type { SipRunning } from "./peers/sip-running.ts";
import { openSipPhone } from "./sip-phone.ts";

const HAS_PEER = HAS_BARESIP && HAS_OPENSSL;
if (!HAS_PEER) process.stderr.write("skipped: SIP calls with baresip (Debian: baresip-core, openssl)\n");

type Way = "udp" | "tcp" | "tls";

describe.skipIf(!HAS_PEER)("baresip", () => {
  let running: SipRunning;
  const phones: Baresip[] = [];

  beforeAll(async () => {
    await initResampler(process);
    running = await openSipRunning();
  });

  afterEach(async () => {
    await Promise.all(phones.splice(0).map((phone) => phone.close()));
    running.recorded.heard.splice(0);
  });

  afterAll(() => running.close());

  async function phone(way: Way, options: Partial<BaresipOptions> = {}, names = ["DNS:localhost"]) {
    const own = running.authority.issue("phone", names);
    const outbound = `outbound="sip:127.0.0.1:${String(running.ports[way])};transport=${way}"`;
    const { account, ...others } = options;
    const started = await startBaresip({
      speech: CALLER,
      codecs: ["g711"],
      account: account === undefined ? outbound : `${outbound};${account}`,
      tls: { certificateFile: own.bothFile, authorityFile: running.authority.authorityFile },
      ...others,
    });
    phones.push(started);
    return started;
  }

  const failure = (callId: string) =>
    vi.waitFor(async () => {
      const [failed] = await running.events(callId, "sip.failed");
      if (failed === undefined) throw new Error("the call has not failed");
      return failed;
    }, PATIENT);

  test.each([
    ["G.722 over UDP", "udp", { codecs: ["g722", "g711"] }],
    ["Opus over TCP", "tcp", { codecs: ["opus"] }],
    ["G.711 over TLS with SRTP", "tls", { account: "mediaenc=srtp-mand" }],
  ] as const)("calls and talks: %s", async (_name, way, options) => {
    const agentId = await running.newAgent();
    const caller = await phone(way, options);
    await caller.command("dial", `sip:agent_${agentId}@${running.domain}`);
    await caller.reported("CALL_ESTABLISHED");
    const callId = await running.callOf(agentId);
    await running.hasHeardTheCaller();
    await running.agentHasSpoken(callId);
    await caller.command("hangup");
    expect((await running.service.ended(callId)).endReason).toBe("hangup");
    expect(aligned(recording(AGENT), await caller.heard())).toBeGreaterThan(LIKE);
    expect(caller.log.includes("SRTP is Enabled (cryptosuite=AES_CM_128_HMAC_SHA1_80)")).toBe(way === "tls");
  });

  test("is called, presses keys and hears keys, holds and resumes, and is hung up", async () => {
    const callee = await phone("udp");
    const callId = await running.dial(`sip:phone@127.0.0.1:${String(callee.port)}`, {
      systemPrompt: "Press 42#",
      selectedTools: [{ toolName: "playDtmfSounds" }],
      firstSpeakerSettings: { agent: {} },
    });
    await callee.reported("CALL_INCOMING");
    await callee.command("accept");
    await callee.reported("CALL_DTMF_START", 3);
    const keys = callee.events.filter(({ type }) => type === "CALL_DTMF_START").map(({ param }) => param);
    expect(keys).toEqual(["4", "2", "#"]);
    const hasReceived = (count: number) =>
      vi.waitFor(async () => {
        expect(await running.events(callId, "dtmf.received")).toHaveLength(count);
      }, PATIENT);
    await callee.command("sndcode", "5");
    await hasReceived(1);
    for (const [index, command] of ["hold", "resume"].entries()) {
      await callee.command(command);
      // The first description was our offer.
      await callee.reported("CALL_REMOTE_SDP", index + 2);
    }
    await callee.command("sndcode", "6");
    await hasReceived(2);
    const hangUp = { type: "hang_up", message: "" };
    const path = `/api/calls/${callId}/send_data_message`;
    expect((await running.service.ask("POST", path, hangUp)).status).toBe(204);
    await callee.reported("CALL_CLOSED");
    expect((await running.service.ended(callId)).endReason).toBe("agent_hangup");
  });

  test("is called over TLS with SRTP, by a name of its certificate", async () => {
    const callee = await phone("tls", { account: "mediaenc=srtp-mand" });
    const callId = await running.dial(`sip:phone@localhost:${String(callee.port + 1)};transport=tls`, {
      firstSpeakerSettings: { agent: {} },
    });
    await callee.reported("CALL_INCOMING");
    await callee.command("accept");
    await running.agentHasSpoken(callId);
    await callee.command("hangup");
    expect((await running.service.ended(callId)).endReason).toBe("hangup");
    expect(aligned(recording(AGENT), await callee.heard())).toBeGreaterThan(LIKE);
    expect(callee.log).toContain("SRTP is Enabled");
  });

  test("is not called over TLS by a name that its certificate does not have", async () => {
    const callee = await phone("tls", { account: "mediaenc=srtp-mand" }, ["DNS:other.example"]);
    const callId = await running.dial(`sip:phone@localhost:${String(callee.port + 1)};transport=tls`);
    expect((await running.service.ended(callId)).endReason).toBe("unjoined");
    expect(JSON.stringify(await failure(callId))).toContain("is not valid for the name");
    expect(callee.events.filter(({ type }) => type === "CALL_INCOMING")).toEqual([]);
  });

  test("is transferred by a REFER, calls the other phone, and says how that ended", async () => {
    // It has no proxy: what it is told to call, it calls itself.
    const callee = await startBaresip({ speech: CALLER, codecs: ["g711"] });
    phones.push(callee);
    const [caller, third] = [await openSipPhone(), await openSipPhone()];
    const call = await caller.call(`sip:phone@127.0.0.1:${String(callee.port)}`, callee.port);
    await callee.reported("CALL_INCOMING");
    await callee.command("accept");
    await vi.waitFor(() => expect([call.failure, call.call !== null]).toEqual([null, true]), PATIENT);
    const heard: string[] = [];
    call.call?.refer(`sip:third@127.0.0.1:${String(third.port)}`, {
      responded: (status) => heard.push(`responded ${String(status)}`),
      progressed: (status, _reason, isFinal) =>
        heard.push(`${isFinal ? "final" : "progress"} ${String(status)}`),
    });
    const taken = await third.answer(await third.invited());
    await vi.waitFor(() => expect(heard.at(-1)).toBe("final 200"), PATIENT);
    expect(heard[0]).toBe("responded 202");
    call.call?.hangUp();
    taken.call?.hangUp();
    await vi.waitFor(() => expect([call.end, taken.end]).not.toContain(null), PATIENT);
    await Promise.all([caller.close(), third.close()]);
  });

  test("gets 488 for keys of SRTP that come without TLS", async () => {
    const agentId = await running.newAgent();
    const caller = await phone("udp", { account: "mediaenc=srtp-mand" });
    await caller.command("dial", `sip:agent_${agentId}@${running.domain}`);
    const { param } = await caller.reported("CALL_CLOSED");
    expect(param).toContain("488");
  });
});
