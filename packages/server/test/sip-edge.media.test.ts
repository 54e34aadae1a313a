/** The assembled service and what it shows of SIP: the messages of calls, checks of trunks, and registrations. */

import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import nodeProcess from "node:process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";
import { openSipPhone, type SipPhone } from "./sip-phone.ts";
import { openSipRegistrar } from "./sip-registrar.ts";

const PATIENT = { timeout: 60_000, interval: 50 };

interface Message {
  readonly timestamp: string;
  readonly direction: string;
  readonly transport: string;
  readonly source: string;
  readonly destination: string;
  readonly firstLine: string;
  readonly text: string;
}

interface Check {
  readonly ok: boolean;
  readonly findings: readonly { severity: string; field: string | null; message: string }[];
  readonly answers: readonly Record<string, unknown>[];
}

let service: RunningService;
let phone: SipPhone;
let port = 0;
let domain = "";
let closing: Promise<void> | null = null;

beforeAll(async () => {
  await initResampler(nodeProcess);
  const sip = { bind: "127.0.0.1", port: 0, tlsPort: 0, certificate: null, announcedAddress: null };
  service = await openRunningService(
    { sip, sipHost: "sip.test", allowPrivateTargets: true },
    openFaultyEngines(),
    ["without"],
  );
  const line = service.linesLogged.find((text) => text.includes("sip: udp"));
  port = Number(/udp 127\.0\.0\.1 port (\d+)/.exec(line ?? "")?.[1]);
  ({ domain } = await service.get<{ domain: string }>("/api/sip"));
  await service.ask("PATCH", "/api/sip", { allowedCidrRanges: ["127.0.0.0/8"], allowAllAgents: true });
  phone = await openSipPhone();
});

afterAll(async () => {
  await phone.close();
  await closeService();
});

/** Once, also where a test has done it. */
function closeService(): Promise<void> {
  return (closing ??= service.close());
}

/**
 * Once each: a busy machine sends messages again, which have the same text. Without 100, which a call that is answered at
 * once does not have.
 */
async function messagesOf(callId: string): Promise<readonly Message[]> {
  const path = `/api/calls/${callId}/sip_messages?pageSize=100`;
  const { results } = await service.get<{ results: Message[] }>(path);
  const first = results.filter(({ text }, i) => results.findIndex((other) => other.text === text) === i);
  return first.filter(({ firstLine }) => !firstLine.startsWith("SIP/2.0 100"));
}

const check = async (body: object, path = "/api/sip/check"): Promise<Check> => {
  const answer = await service.ask<Check>("POST", path, body);
  expect(answer.status).toBe(200);
  return answer.body;
};

/** A port of the loopback address at which nothing answers: the socket is open and silent, or closed. */
async function silentPort(): Promise<{ readonly port: number; close: () => Promise<void> }> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

test("the messages of a call are listed while it runs, and are a text after its end", async () => {
  const made = await service.ask<{ agentId: string }>("POST", "/api/agents", {
    callTemplate: { systemPrompt: "Answer.", ...USER_FIRST },
  });
  const headers = [{ name: "X-Account", value: "<sip:ann:a-secret-of-the-caller@pbx.example>" }];
  const call = await phone.call(`sip:agent_${made.body.agentId}@${domain}`, port, headers);
  let callId = "";
  await vi.waitFor(async () => {
    const { results } = await service.get<{ results: { callId: string }[] }>(
      `/api/agents/${made.body.agentId}/calls`,
    );
    callId = results[0]?.callId ?? "";
    const [first, second] = (await messagesOf(callId)).map(({ firstLine }) => firstLine);
    expect([first, second]).toEqual([expect.stringMatching(/^INVITE sip:agent_/), "SIP/2.0 200 OK"]);
  }, PATIENT);
  service.countCall();
  const path = `/api/calls/${callId}/sip_logs`;
  expect((await service.ask("GET", path)).status).toBe(425);
  await vi.waitFor(() => expect(call.call).not.toBeNull(), PATIENT);
  call.call?.hangUp();
  await service.ended(callId);
  await vi.waitFor(async () => {
    const all = await messagesOf(callId);
    expect(
      all.map(({ direction, firstLine }) => `${direction} ${firstLine.split(" ").slice(0, 2).join(" ")}`),
    ).toEqual([
      expect.stringMatching(/^received INVITE sip:agent_/),
      "sent SIP/2.0 200",
      expect.stringMatching(/^received ACK sip:/),
      expect.stringMatching(/^received BYE sip:/),
      "sent SIP/2.0 200",
    ]);
    expect(all[0]).toMatchObject({ transport: "udp", destination: `127.0.0.1:${String(port)}` });
    expect(all[1]).toMatchObject({ source: `127.0.0.1:${String(port)}` });
    expect(all[0]?.text).toContain("X-Account: <sip:ann:***@pbx.example>");
    expect(JSON.stringify(all)).not.toContain("a-secret-of-the-caller");
  }, PATIENT);
  let location = "";
  await vi.waitFor(async () => {
    const answer = await fetch(service.url + path, {
      headers: { "X-API-Key": service.key, connection: "close" },
      redirect: "manual",
    });
    expect(answer.status).toBe(302);
    location = answer.headers.get("location") ?? "";
  }, PATIENT);
  const text = await (await fetch(location, { headers: { connection: "close" } })).text();
  const [before, ...messages] = text.split(/^--- .* udp 127\.0\.0\.1:\d+ -> 127\.0\.0\.1:\d+$/gm);
  expect(before).toBe("");
  const all = (await messagesOf(callId)).map(({ firstLine }) => firstLine);
  const firstLines = messages.map((message) => message.trimStart().split(/\r?\n/, 1)[0] ?? "");
  expect([...new Set(firstLines)]).toEqual(expect.arrayContaining(all));
  expect(firstLines.length).toBeGreaterThanOrEqual(all.length);
  expect(text).toContain("X-Account: <sip:ann:***@pbx.example>");
});

test("a call to a domain that nobody has is refused", async () => {
  const call = await phone.call(`sip:agent_1@elsewhere.test`, port);
  await vi.waitFor(() => expect(call.failure?.status).toBe(403), PATIENT);
});

test("a dialled call that is refused has its messages", async () => {
  const to = `sip:ann@127.0.0.1:${String(phone.port)}`;
  const { callId } = await service.makeCall({
    medium: { sip: { outgoing: { to, from: "1", username: "u", password: "a-secret-of-the-trunk" } } },
  });
  (await phone.invited()).reject(486);
  await service.ended(callId);
  await vi.waitFor(async () => {
    const all = await messagesOf(callId);
    expect(all.at(-1)?.firstLine).toMatch(/^ACK /);
    expect(all.map(({ firstLine }) => firstLine)).toContain("SIP/2.0 486 Busy Here");
    expect(JSON.stringify(all)).not.toContain("a-secret-of-the-trunk");
  }, PATIENT);
});

test("a trunk that answers is found, and one that does not is explained", async () => {
  const good = await check({ to: `127.0.0.1:${String(phone.port)}` });
  expect(good.answers).toMatchObject([
    { request: "OPTIONS", transport: "udp", address: `127.0.0.1:${String(phone.port)}`, status: 200 },
  ]);
  expect(good.findings.map(({ field }) => field)).toEqual(["domain"]);
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const closed = typeof address === "object" ? (address?.port ?? 0) : 0;
  await new Promise((resolve) => listener.close(resolve));
  const refused = await check({ to: `sip:127.0.0.1:${String(closed)};transport=tcp` });
  expect(refused.findings[0]?.message).toMatch(/^127\.0\.0\.1:\d+ \(TCP\) refuses connections/);
  const unknown = await check({ to: "sip:trunk.invalid" });
  expect(unknown.findings[0]).toMatchObject({ severity: "error", field: "to" });
  expect(unknown.findings[0]?.message).toContain("trunk.invalid");
  const wrong = await service.ask("POST", "/api/sip/check", { to: "not an address" });
  expect([wrong.status, wrong.body.errors?.[0]?.field]).toEqual([400, "to"]);
  const other = await service.ask<Check>("POST", "/api/sip/check", {}, service.keys.get("without"));
  expect(other.body).toMatchObject({ ok: false, findings: [{ severity: "error", field: null }, {}, {}] });
});

test("a trunk that does not answer over UDP is asked over TCP", async () => {
  const silent = await silentPort();
  const found = await check({ to: `sip:127.0.0.1:${String(silent.port)}` });
  expect(found.findings[0]?.message).toMatch(/^Nothing came back from 127\.0\.0\.1:\d+ \(UDP\) within 6 s/);
  await silent.close();
});

test("a registration shows what it got, and its check says what is wrong", async () => {
  const account = { username: "4930777", password: "a good password" };
  const registrar = await openSipRegistrar(account);
  const proxy = `127.0.0.1:${String(registrar.port)}`;
  const made = await service.ask<{ registrationId: string }>("POST", "/api/sip/registrations", {
    ...account,
    password: "a wrong password",
    proxy,
  });
  const path = `/api/sip/registrations/${made.body.registrationId}`;
  await vi.waitFor(async () => {
    const shown = await service.get<{ lastAttempt: string; nextAttempt: string }>(path);
    expect(shown).toMatchObject({ successful: false, lastStatus: 401, lastReason: "Unauthorized" });
    expect(Date.parse(shown.nextAttempt) - Date.parse(shown.lastAttempt)).toBe(30_000);
  }, PATIENT);
  const bad = await check({}, `${path}/check`);
  expect(bad.ok).toBe(false);
  expect(bad.findings).toMatchObject([{ severity: "error", field: "password" }]);
  expect(bad.findings[0]?.message).toContain('"registrar.test"');
  await service.ask("PATCH", path, { password: account.password });
  await vi.waitFor(async () => {
    expect(await service.get(path)).toMatchObject({ successful: true, lastStatus: 200 });
  }, PATIENT);
  const contact = registrar.contact();
  const good = await check({}, `${path}/check`);
  expect(good).toMatchObject({
    ok: true,
    findings: [],
    answers: [
      { request: "OPTIONS", status: 200 },
      { request: "REGISTER", status: 200 },
    ],
  });
  // The check has not changed what is registered.
  expect(registrar.contact()).toBe(contact);
  await service.ask("DELETE", path);
  await vi.waitFor(() => expect(registrar.contact()).toBeNull(), PATIENT);
  await registrar.close();
});

// The last one: a line comes once a minute, and at the end of the service.
test("calls that were refused leave one line in the log of the service", async () => {
  await closeService();
  const refusals = service.linesLogged.filter((line) => line.includes("incoming SIP calls were refused"));
  const counts = refusals.map((line) => (JSON.parse(line) as { statuses: object }).statuses);
  expect(counts).toEqual([{ 403: 1 }]);
}, 60_000);
