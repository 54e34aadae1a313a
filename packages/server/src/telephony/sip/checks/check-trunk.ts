/** Checks a trunk or a registrar by requests that change nothing there, and the account's own configuration. */

import type { SipCheck, TelephonyFinding } from "@parley/schema";
import type { SipPlace, SipProbe, SipProbeOutcome, SipProber } from "../../../ports/sip-calls.ts";
import type { Db } from "../../../store/database/db.ts";
import { readSipRegistrationToCheck } from "../../../store/telephony/held-registrations.ts";
import { isSipEnabled } from "../../../store/telephony/sip-accounts.ts";
import { readSipConfig } from "../../../store/telephony/sip-configs.ts";
import { hasSipRegistrations } from "../../../store/telephony/sip-registrations.ts";
import { optionsFinding, registerFinding } from "./answer-findings.ts";
import { failureText, transportName, type FailedProbe } from "./failure-texts.ts";

/** A datagram is repeated three times within this time. */
const FIRST_LIMIT_MS = 6_000;
/** Of a second question by another transport. */
const OTHER_LIMIT_MS = 4_000;
/** The DNS answers within 1.5 s, or is asked again. */
const ADDRESS_LIMIT_MS = 5_000;

export interface SipCheckDeps {
  readonly db: Db;
  readonly sipHost: string;
  /** Null: the service has no SIP. */
  readonly prober: SipProber | null;
  /** The IP addresses of a name; rejects where there are none. */
  readonly addressesOf: (name: string) => Promise<readonly string[]>;
  /** The address that SIP peers reach the service at; null: it has no SIP. */
  readonly ownAddress: string | null;
}

export interface SipChecks {
  /** @param to a trunk; null: the configuration alone */
  readonly check: (accountId: string, to: string | null) => Promise<SipCheck>;
  /** Null: the account has no such registration. */
  readonly checkRegistration: (accountId: string, registrationId: string) => Promise<SipCheck | null>;
}

type Answer = SipCheck["answers"][number];
interface Part {
  readonly findings: readonly TelephonyFinding[];
  readonly answers: readonly Answer[];
}

const NOTHING: Part = { findings: [], answers: [] };
const OFF: TelephonyFinding = {
  severity: "error",
  field: null,
  message: "SIP is off in this deployment. The operator sets SIP_HOST to switch it on.",
};
const NOT_ENABLED: TelephonyFinding = {
  severity: "error",
  field: null,
  message:
    "The operator has not allowed this account to use SIP: `parley accounts sip ACCOUNT on` allows it.",
};

export function createSipChecks(deps: SipCheckDeps): SipChecks {
  return {
    async check(accountId, to) {
      const { prober } = deps;
      if (prober === null) return checkOf([{ findings: [OFF], answers: [] }]);
      const isEnabled = await isSipEnabled(deps.db, accountId);
      const own = configFindings(deps, accountId, isEnabled);
      // Who may not call may not send anything else either.
      const trunk = to === null || !isEnabled ? NOTHING : checkTrunk(prober, to);
      return checkOf([{ findings: await own, answers: [] }, await trunk]);
    },
    async checkRegistration(accountId, registrationId) {
      const registration = await readSipRegistrationToCheck(deps.db, accountId, registrationId);
      if (registration === null) return null;
      const { prober } = deps;
      if (prober === null) return checkOf([{ findings: [OFF], answers: [] }]);
      if (!(await isSipEnabled(deps.db, accountId)))
        return checkOf([{ findings: [NOT_ENABLED], answers: [] }]);
      return checkOf([await checkRegistrar(prober, registration)]);
    },
  };
}

function checkOf(parts: readonly Part[]): SipCheck {
  const all = parts.flatMap(({ findings }) => findings);
  const errors = all.filter(({ severity }) => severity === "error");
  const warnings = all.filter(({ severity }) => severity === "warning");
  return {
    ok: errors.length === 0,
    findings: [...errors, ...warnings],
    answers: parts.flatMap(({ answers }) => answers),
  };
}

async function configFindings(
  deps: SipCheckDeps,
  accountId: string,
  isEnabled: boolean,
): Promise<readonly TelephonyFinding[]> {
  const { db, sipHost } = deps;
  const [config, hasRegistrations, domain] = await Promise.all([
    readSipConfig(db, accountId),
    hasSipRegistrations(db, accountId),
    domainFinding(deps, `${accountId}.${sipHost}`),
  ]);
  const warning = (field: string, message: string): TelephonyFinding => ({
    severity: "warning",
    field,
    message,
  });
  const { allowedCidrRanges, allowAllAgents, allowedAgents, fallbackHandler } = config;
  const isClosed = allowedCidrRanges.length === 0 && !hasRegistrations;
  const isEmpty = !allowAllAgents && allowedAgents.length === 0 && fallbackHandler === null;
  return [
    ...(isEnabled ? [] : [NOT_ENABLED]),
    ...(isClosed
      ? [warning("allowedCidrRanges", "No calls come in: there is no allowed source and no registration.")]
      : []),
    ...(isEmpty
      ? [
          warning(
            "allowedAgents",
            "No agent can be called: allow all agents, list some, or set a fallback handler.",
          ),
        ]
      : []),
    // Calls by registrations do not need the domain.
    ...(domain === null || allowedCidrRanges.length === 0 ? [] : [warning("domain", domain)]),
  ];
}

async function domainFinding(
  { addressesOf, ownAddress, sipHost }: SipCheckDeps,
  domain: string,
): Promise<string | null> {
  const advice = `Add a DNS record for *.${sipHost}, or call the address ${ownAddress ?? ""} with this domain in the URI.`;
  const addresses = await Promise.race([
    addressesOf(domain).catch((): readonly string[] => []),
    new Promise<readonly string[]>((resolve) => setTimeout(() => resolve([]), ADDRESS_LIMIT_MS).unref()),
  ]);
  if (addresses.length === 0) return `There is no address for ${domain} in the DNS. ${advice}`;
  if (ownAddress === null || addresses.includes(ownAddress)) return null;
  return `The DNS leads ${domain} to another address than that of this service (${ownAddress}).`;
}

async function checkTrunk(prober: SipProber, to: string): Promise<Part> {
  const outcome = await prober.probe(optionsTo(to, null, FIRST_LIMIT_MS));
  if (outcome.kind === "answered") {
    const finding = optionsFinding(outcome);
    return { answers: [answerOf("OPTIONS", outcome)], findings: finding === null ? [] : [finding] };
  }
  return failed(prober, { field: "to", to, outboundProxy: null, outcome });
}

async function checkRegistrar(
  prober: SipProber,
  registration: NonNullable<Awaited<ReturnType<typeof readSipRegistrationToCheck>>>,
): Promise<Part> {
  const { proxy, outboundProxy, username, authUser, password, lastStatus, lastReason } = registration;
  const place = { to: proxy, outboundProxy };
  const [options, register] = await Promise.all([
    prober.probe(optionsTo(proxy, outboundProxy, FIRST_LIMIT_MS)),
    prober.probe({ ...place, register: { username, authUser, password }, limitMs: FIRST_LIMIT_MS }),
  ]);
  const answers = [
    ...(options.kind === "answered" ? [answerOf("OPTIONS", options)] : []),
    ...(register.kind === "answered" ? [answerOf("REGISTER", register)] : []),
  ];
  if (register.kind === "answered") {
    const lastSaid = lastStatus === null ? null : `${String(lastStatus)} ${lastReason ?? ""}`.trim();
    const finding = registerFinding(register, { username, proxy, lastSaid });
    return { answers, findings: finding === null ? [] : [finding] };
  }
  const field = outboundProxy === null ? "proxy" : "outboundProxy";
  if (options.kind === "failed") {
    return failed(prober, { field, ...place, outcome: register });
  }
  const message = `${failureText(outboundProxy ?? proxy, register, FIRST_LIMIT_MS)} It answers OPTIONS: it may take no registrations.`;
  return { answers, findings: [{ severity: "error", field, message }] };
}

interface Failed {
  readonly field: string;
  readonly to: string;
  readonly outboundProxy: string | null;
  readonly outcome: FailedProbe;
}

/** Nothing has answered: perhaps it does by another transport. */
async function failed(prober: SipProber, { field, to, outboundProxy, outcome }: Failed): Promise<Part> {
  const asked = outboundProxy ?? to;
  const message = failureText(asked, outcome, FIRST_LIMIT_MS);
  const { tried } = outcome;
  const others = tried === null ? [] : otherTransports(asked, tried);
  const outcomes = await Promise.all(
    others.map((other) => prober.probe(optionsTo(other, null, OTHER_LIMIT_MS))),
  );
  const found = outcomes.find((one) => one.kind === "answered");
  const advice =
    found?.kind === "answered"
      ? ` It answers over ${transportName(found)}: add ;transport=${found.transport} to the address.`
      : "";
  return {
    answers: found?.kind === "answered" ? [answerOf("OPTIONS", found)] : [],
    findings: [{ severity: "error", field, message: `${message}${advice}` }],
  };
}

/** The same place, over UDP and TCP where they were not tried. A `sips:` address is asked over TLS alone. */
function otherTransports(to: string, { transport }: SipPlace): readonly string[] {
  if (/^sips:/i.test(to)) return [];
  const plain = to.replace(/;transport=[a-z]+/i, "");
  return (["udp", "tcp"] as const)
    .filter((other) => other !== transport)
    .map((other) => `${plain};transport=${other}`);
}

function optionsTo(to: string, outboundProxy: string | null, limitMs: number): SipProbe {
  return { to, outboundProxy, register: null, limitMs };
}

function answerOf(
  request: Answer["request"],
  { transport, address, status, reason, realm, software }: Extract<SipProbeOutcome, { kind: "answered" }>,
): Answer {
  return { request, transport, address, status, reason, realm, software };
}
