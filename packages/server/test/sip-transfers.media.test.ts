/** The assembled service and phones over SIP: calls that are transferred to other people, with recorded speech. */

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tonePower } from "../src/media/testing/signals.ts";
import { openSipRedirector } from "./sip-redirector.ts";
import {
  heardBy,
  isOver,
  LEAST_LOUD,
  loud,
  MUSIC_HZ,
  openSipTransferWorld,
  PATIENT,
  referOf,
  speak,
  talk,
  type SipTransferWorld,
} from "./sip-transfer-world.ts";

let world: SipTransferWorld;

beforeAll(async () => {
  world = await openSipTransferWorld();
});

afterAll(() => world.close());

test("a cold transfer asks the phone to call the target, and its success ends the call", async () => {
  const { callId, line } = await world.phone("coldTransfer", { extraHeaders: { "X-Order": "17" } });
  await world.callTool(callId, "coldTransfer");
  const refer = await referOf(line);
  expect([refer.to, refer.hasReplaces]).toEqual([world.target(), false]);
  refer.accept();
  refer.notify(180, "Ringing");
  refer.notify(200, "OK");
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  await isOver(line);
  expect((await world.eventOf(callId, "sip.transferred")).extras).toEqual({
    tool: "coldTransfer",
    by: "REFER",
  });
  expect(
    await world.service.metric(/parley_transfers_total\{carrier="sip",outcome="connected"\} (\d+)/),
  ).toBe(1);
});

test("a cold transfer that fails or is refused returns to the agent, who is heard again", async () => {
  const { callId, line } = await world.phone();
  await world.callTool(callId, "coldTransfer");
  const refer = await referOf(line);
  refer.accept();
  refer.notify(486, "Busy Here");
  await world.resultIs(callId, "The tool failed: the line was busy");
  const before = line.record.samples().length;
  await vi.waitFor(
    () => expect(loud(line.record.samples().subarray(before))).toBeGreaterThan(LEAST_LOUD),
    PATIENT,
  );
  line.takesRefers = false;
  await world.callTool(callId, "coldTransfer");
  await world.resultIs(callId, "The tool failed: the other side of the call does not transfer calls");
  expect((await world.eventOf(callId, "sip.transfer_failed")).extras).toMatchObject({
    tool: "coldTransfer",
    detail: expect.stringMatching(/^603 /) as unknown,
  });
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
});

test("a phone that hangs up after it has accepted the REFER is transferred", async () => {
  const { callId, line } = await world.phone();
  await world.callTool(callId, "coldTransfer");
  const refer = await referOf(line);
  refer.accept();
  await vi.waitFor(() => expect(refer.isOpen).toBe(false), PATIENT);
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  await world.eventOf(callId, "sip.transferred");
});

test("a caller who hangs up before the phone has answered the REFER ends the call", async () => {
  const { callId, line } = await world.phone();
  await world.callTool(callId, "coldTransfer");
  await referOf(line);
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
});

test("a cold transfer by INVITE connects the two here, with hold music before and other codecs", async () => {
  const { callId, line } = await world.phone("coldTransfer", {
    sipVerb: "INVITE",
    extraHeaders: { "X-Order": "17" },
    holdMusicUrl: `${world.host.httpUrl}/music.wav`,
  });
  await world.callTool(callId, "coldTransfer");
  const invite = await world.colleague.invited();
  expect(invite.headers.find(({ name }) => name === "x-order")?.value).toBe("17");
  await vi.waitFor(() => {
    const lately = line.record.samples().subarray(-line.rateHz / 4);
    const { tone, all } = tonePower(lately, MUSIC_HZ, line.rateHz);
    expect([all > 0.001, tone / all > 0.8]).toEqual([true, true]);
  }, PATIENT);
  const other = await world.colleague.answer(invite);
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  expect([line.rateHz, other.rateHz]).toEqual([16_000, 8_000]);
  await talk(line, other);
  line.transport?.sendDigits?.("5");
  await vi.waitFor(() => expect(other.record.digits).toEqual(["5"]), PATIENT);
  other.call?.hangUp();
  await isOver(line);
  expect((await world.eventOf(callId, "sip.transferred")).extras).toEqual({
    tool: "coldTransfer",
    by: "BRIDGE",
  });
  // The figures are those of the whole call, also of the time without the agent.
  const { extras } = await world.eventOf(callId, "sip.media");
  expect(extras).toMatchObject({ packetsSent: expect.any(Number) as unknown, packetsLost: 0 });
  expect((extras as { packetsReceived: number }).packetsReceived).toBeGreaterThan(100);
});

test.each([
  [486, "the line was busy"],
  [480, "nobody answered"],
])("a cold transfer by INVITE that gets %i returns to the agent", async (status, why) => {
  const { callId, line } = await world.phone("coldTransfer", { sipVerb: "INVITE" });
  await world.callTool(callId, "coldTransfer");
  (await world.colleague.invited()).reject(status);
  await world.resultIs(callId, `The tool failed: ${why}`);
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
});

test("the ringing of a transfer stops when the caller hangs up", async () => {
  const { callId, line } = await world.phone("coldTransfer", { sipVerb: "INVITE" });
  await world.callTool(callId, "coldTransfer");
  const invite = await world.colleague.invited();
  const canceled = new Promise<void>((resolve) => invite.onCanceled(resolve));
  invite.progress(180);
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
  await canceled;
});

test("the agent talks with the colleague, who says yes, and the two are connected here", async () => {
  const { callId, line } = await world.phone("warmTransfer", { transferType: "BRIDGE" });
  await world.callTool(callId, "warmTransfer", { context: "Jane wants a refund." });
  const other = await world.colleague.answer(await world.colleague.invited());
  const consultationId = await world.consultation(callId);
  const before = line.record.samples().length;
  await heardBy(other);
  const record = await world.service.get<{ systemPrompt: string; metadata: object }>(
    `/api/calls/${consultationId}`,
  );
  expect(record.systemPrompt).toContain("Jane wants a refund.");
  expect(record.metadata).toEqual({ transferOfCallId: callId });
  // The caller hears nothing of it, and is not heard.
  speak(line);
  expect(loud(line.record.samples().subarray(before))).toBe(0);
  speak(other);
  expect((await world.service.ended(consultationId)).endReason).toBe("agent_hangup");
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  expect((await world.service.messages(callId)).filter(({ role }) => role === "MESSAGE_ROLE_USER")).toEqual(
    [],
  );
  await talk(line, other);
  expect([line.end, other.end]).toEqual([null, null]);
  line.call?.hangUp();
  await isOver(other);
});

test("the key 1 takes the call, and the caller's phone is asked to replace the agent", async () => {
  const { callId, line } = await world.phone("warmTransfer", { referHeaders: { "X-Order": "17" } });
  await world.callTool(callId, "warmTransfer");
  const other = await world.colleague.answer(await world.colleague.invited());
  const consultationId = await world.consultation(callId);
  await heardBy(other);
  other.transport?.sendDigits?.("1");
  const refer = await referOf(line);
  expect(refer.hasReplaces).toBe(true);
  refer.accept();
  refer.notify(200, "OK");
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  await world.service.ended(consultationId);
  expect((await world.eventOf(callId, "sip.transferred")).extras).toEqual({
    tool: "warmTransfer",
    by: "REFER",
  });
  await isOver(line);
  await isOver(other);
});

test("a phone that does not replace calls is bridged instead", async () => {
  const { callId, line } = await world.phone();
  line.takesRefers = false;
  await world.callTool(callId, "warmTransfer");
  const other = await world.colleague.answer(await world.colleague.invited());
  await world.consultation(callId);
  await heardBy(other);
  other.transport?.sendDigits?.("1");
  expect((await world.service.ended(callId)).endReason).toBe("agent_hangup");
  await talk(line, other);
  other.call?.hangUp();
  await isOver(line);
});

test("a colleague who refuses, hangs up or is busy sends the caller back, with the reason", async () => {
  const { callId, line } = await world.phone();
  await world.callTool(callId, "warmTransfer");
  const refusing = await world.colleague.answer(await world.colleague.invited());
  const consultationId = await world.consultation(callId);
  await heardBy(refusing);
  await world.callTool(consultationId, "refuseTransfer", { reason: "in a meeting" });
  await world.resultIs(callId, "The tool failed: the person does not take the call: in a meeting");
  await isOver(refusing);
  await world.callTool(callId, "warmTransfer");
  const leaving = await world.colleague.answer(await world.colleague.invited());
  world.service.countCall();
  await heardBy(leaving);
  leaving.call?.hangUp();
  await world.resultIs(callId, "The tool failed: the person has hung up");
  await world.callTool(callId, "warmTransfer");
  (await world.colleague.invited()).reject(486);
  world.service.countCall();
  await world.resultIs(callId, "The tool failed: the line was busy");
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
});

test("a caller who hangs up ends the conversation with the colleague", async () => {
  const { callId, line } = await world.phone();
  await world.callTool(callId, "warmTransfer");
  const other = await world.colleague.answer(await world.colleague.invited());
  const consultationId = await world.consultation(callId);
  await heardBy(other);
  line.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
  await world.service.ended(consultationId);
  await isOver(other);
});

test("a dialled call follows one redirection, and none to a number that is not allowed", async () => {
  let moved = world.target();
  const redirector = await openSipRedirector(() => moved);
  const dial = async (): Promise<string> => {
    const to = `sip:+4930111@127.0.0.1:${String(redirector.port)}`;
    const settings = { medium: { sip: { outgoing: { to, from: "1" } } }, firstSpeakerSettings: { user: {} } };
    return (await world.service.makeCall(settings)).callId;
  };
  const followed = await dial();
  const call = await world.colleague.answer(await world.colleague.invited());
  call.call?.hangUp();
  expect((await world.service.ended(followed)).endReason).toBe("hangup");
  const elsewhere = world.target().replace("+49", "+41");
  for (const place of [elsewhere, `sip:+4930222@127.0.0.1:${String(redirector.port)}`]) {
    moved = place;
    expect((await world.service.ended(await dial())).endReason).toBe("unjoined");
  }
  redirector.close();
});

test("a number that the account does not allow is not called, by either tool", async () => {
  for (const tool of ["coldTransfer", "warmTransfer"] as const) {
    const { callId, line } = await world.phone(tool, { target: "+41309999" });
    await world.callTool(callId, tool);
    await vi.waitFor(async () => {
      expect((await world.resultsOf(callId)).at(-1)).toContain("has none of the prefixes");
    }, PATIENT);
    expect(line.refers).toEqual([]);
    line.call?.hangUp();
    await world.service.ended(callId);
  }
});

test("a REFER of the phone is refused, and followed once the account says so: the agent talks with the new one", async () => {
  const { callId, line } = await world.phone();
  const outcomes: string[] = [];
  const refer = (): void =>
    line.call?.refer("sip:+4930777@elsewhere.example", {
      responded: (status) => void outcomes.push(`responded ${String(status)}`),
      progressed: (status, _reason, isFinal) => void (isFinal && outcomes.push(`final ${String(status)}`)),
    });
  refer();
  await vi.waitFor(() => expect(outcomes).toEqual(["responded 603"]), PATIENT);
  expect((await world.service.ask("PATCH", "/api/sip/rules", { incomingRefer: "follow" })).status).toBe(200);
  refer();
  // Where the call came from, whatever host the target has.
  const invite = await world.caller.invited();
  expect(invite.user).toBe("+4930777");
  const next = await world.caller.answer(invite);
  await vi.waitFor(() => expect(outcomes.slice(1)).toEqual(["responded 202", "final 200"]), PATIENT);
  await isOver(line);
  // They have said nothing: the agent greets them.
  await heardBy(next);
  await world.eventOf(callId, "sip.transferred");
  next.call?.hangUp();
  expect((await world.service.ended(callId)).endReason).toBe("hangup");
  await world.service.ask("PATCH", "/api/sip/rules", { incomingRefer: null });
});

test("a REFER of the phone that would replace a call is refused, and the messages of the call say why", async () => {
  expect((await world.service.ask("PATCH", "/api/sip/rules", { incomingRefer: "follow" })).status).toBe(200);
  const { callId, line } = await world.phone();
  const outcomes: string[] = [];
  line.call?.refer("sip:+4930777@127.0.0.1?Replaces=a%40b%3Bto-tag%3Dc%3Bfrom-tag%3Dd", {
    responded: (status, reason) => void outcomes.push(`${String(status)} ${reason}`),
    progressed: () => undefined,
  });
  await vi.waitFor(() => expect(outcomes).toEqual(["603 Replaces Is Not Supported"]), PATIENT);
  expect(await world.eventOf(callId, "sip.transfer_failed")).toMatchObject({
    text: expect.stringContaining("a call that is to be replaced") as string,
  });
  await vi.waitFor(async () => {
    const messages = await world.service.get<object>(`/api/calls/${callId}/sip_messages`);
    expect(JSON.stringify(messages)).toContain("SIP/2.0 603 Replaces Is Not Supported");
  }, PATIENT);
  line.call?.hangUp();
  await world.service.ended(callId);
  await world.service.ask("PATCH", "/api/sip/rules", { incomingRefer: null });
});
