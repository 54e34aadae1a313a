import { expect, it } from "vitest";
import type { SipProbe, SipProbeOutcome } from "../../../ports/sip-calls.ts";
import { holdRegistrations, noteRegistration } from "../../../store/telephony/held-registrations.ts";
import { setSipEnabled } from "../../../store/telephony/sip-accounts.ts";
import { changeSipConfig } from "../../../store/telephony/sip-configs.ts";
import { createSipRegistration } from "../../../store/telephony/sip-registrations.ts";
import { describeOnBothDatabases, newAccount } from "../../../store/testing/databases.ts";
import { createSipChecks } from "./check-trunk.ts";

const OWN = "198.51.100.1";
const PLACE = { transport: "udp", address: "203.0.113.5:5060" } as const;

function answered(status: number, changes: object = {}): SipProbeOutcome {
  return { kind: "answered", status, reason: "Said", realm: null, software: null, ...PLACE, ...changes };
}

function unanswered(changes: object = {}): SipProbeOutcome {
  const failed = {
    kind: "failed",
    cause: "timeout",
    code: null,
    reason: "No response",
    tried: PLACE,
  } as const;
  return { ...failed, ...changes };
}

describeOnBothDatabases("the check of SIP", (current) => {
  function checks(outcomeOf: (probe: SipProbe) => SipProbeOutcome, addresses: readonly string[] = [OWN]) {
    const probes: SipProbe[] = [];
    const made = createSipChecks({
      db: current().db,
      sipHost: "sip.example",
      ownAddress: OWN,
      addressesOf: () => Promise.resolve(addresses),
      prober: {
        probe: (probe) => {
          probes.push(probe);
          return Promise.resolve(outcomeOf(probe));
        },
      },
    });
    return { ...made, probes };
  }

  async function enabledAccount(): Promise<string> {
    const accountId = await newAccount(current().db);
    await setSipEnabled(current().db, accountId, true);
    await changeSipConfig(current().db, accountId, {
      allowedCidrRanges: ["203.0.113.0/24"],
      allowAllAgents: true,
    });
    return accountId;
  }

  it("finds nothing where all is well, and says who answered", async () => {
    const { check, probes } = checks(() => answered(200, { software: "PBX 1" }));
    const accountId = await enabledAccount();
    expect(await check(accountId, null)).toEqual({ ok: true, findings: [], answers: [] });
    expect(await check(accountId, "trunk.example")).toEqual({
      ok: true,
      findings: [],
      answers: [
        { request: "OPTIONS", ...PLACE, status: 200, reason: "Said", realm: null, software: "PBX 1" },
      ],
    });
    expect(probes).toEqual([{ to: "trunk.example", outboundProxy: null, register: null, limitMs: 6_000 }]);
  });

  it("finds what is missing in the configuration", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { check, probes } = checks(() => answered(200), []);
    const closed = await check(accountId, "trunk.example");
    expect(probes).toEqual([]);
    expect(closed.ok).toBe(false);
    expect(closed.findings.map(({ severity, field }) => [severity, field])).toEqual([
      ["error", null],
      ["warning", "allowedCidrRanges"],
      ["warning", "allowedAgents"],
    ]);
    await changeSipConfig(db, accountId, { allowedCidrRanges: ["203.0.113.0/24"] });
    const unnamed = (await check(accountId, null)).findings.find(({ field }) => field === "domain");
    expect(unnamed?.message).toContain(`no address for ${accountId}.sip.example in the DNS`);
    const elsewhere = await checks(() => answered(200), ["192.0.2.9"]).check(accountId, null);
    expect(elsewhere.findings.at(-1)?.message).toContain("another address than that of this service");
  });

  it("says that SIP is off", async () => {
    const { db } = current();
    const off = createSipChecks({
      db,
      sipHost: "sip.example",
      prober: null,
      ownAddress: null,
      addressesOf: () => Promise.reject(new Error("not asked")),
    });
    const accountId = await newAccount(db);
    expect((await off.check(accountId, "trunk.example")).findings[0]?.message).toContain("SIP_HOST");
    expect(await off.checkRegistration(accountId, accountId)).toBeNull();
  });

  it("asks by the other transport when nothing comes back", async () => {
    const accountId = await enabledAccount();
    const tcp = { transport: "tcp", address: PLACE.address } as const;
    const { check, probes } = checks(({ to }) =>
      to.endsWith("transport=tcp") ? answered(404, tcp) : unanswered(),
    );
    const found = await check(accountId, "sip:trunk.example:5060;transport=udp");
    expect(found.findings[0]).toMatchObject({ severity: "error", field: "to" });
    expect(found.findings[0]?.message).toMatch(
      /^Nothing came back from 203\.0\.113\.5:5060 \(UDP\) within 6 s\..* It answers over TCP: add ;transport=tcp/,
    );
    expect(found.answers).toMatchObject([{ transport: "tcp", status: 404 }]);
    expect(probes.map(({ to }) => to)).toEqual([
      "sip:trunk.example:5060;transport=udp",
      "sip:trunk.example:5060;transport=tcp",
    ]);
    const silent = checks(() => unanswered());
    expect((await silent.check(accountId, "sips:trunk.example")).findings[0]?.message).not.toContain(
      "It answers",
    );
    expect(silent.probes).toHaveLength(1);
  });

  it("asks a registrar with the stored password", async () => {
    const { db } = current();
    const accountId = await enabledAccount();
    const { registrationId } = await createSipRegistration(db, accountId, {
      username: "1000",
      password: "a password",
      proxy: "pbx.example",
      outboundProxy: "out.example",
      authUser: "auth",
    });
    const wrong = checks(({ register }) =>
      register === null ? answered(200) : answered(401, { realm: "pbx" }),
    );
    const found = await wrong.checkRegistration(accountId, registrationId);
    expect(found?.findings).toMatchObject([{ severity: "error", field: "password" }]);
    expect(found?.findings[0]?.message).toContain('the realm "pbx" (401 Said)');
    expect(found?.answers.map(({ request, status }) => [request, status])).toEqual([
      ["OPTIONS", 200],
      ["REGISTER", 401],
    ]);
    expect(wrong.probes.find(({ register }) => register !== null)).toEqual({
      to: "pbx.example",
      outboundProxy: "out.example",
      register: { username: "1000", authUser: "auth", password: "a password" },
      limitMs: 6_000,
    });
    expect(await wrong.checkRegistration(await newAccount(db), registrationId)).toBeNull();
    await holdRegistrations(db, "node", 60_000);
    const attempt = { isSuccessful: true, status: 200, reason: "OK", nextInMs: 60_000 };
    await noteRegistration(db, "node", registrationId, attempt);
    const shy = await checks(() => answered(400)).checkRegistration(accountId, registrationId);
    expect(shy?.ok).toBe(true);
    expect(shy?.findings[0]?.message).toContain("the last attempt got 200 OK");
    const deaf = await checks(({ register }) =>
      register === null ? answered(200) : unanswered(),
    ).checkRegistration(accountId, registrationId);
    expect(deaf?.findings[0]).toMatchObject({ severity: "error", field: "outboundProxy" });
    expect(deaf?.findings[0]?.message).toContain("It answers OPTIONS");
  });
});
