/** Binds the SIP user agent to the store and the calls. */

import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import type { CallTemplate } from "@parley/schema";
import { ConfigError } from "../../config/config-error.ts";
import type { SipSettings } from "../../config/sip.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { PrepareDial } from "../../lifecycle/create/dialling.ts";
import { contextChecker } from "../../lifecycle/create/schema-checks.ts";
import { addressAllowed } from "../../net/address-filter.ts";
import { openClock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { getAgentForCall } from "../../store/agents/agents.ts";
import { readSipSources } from "../../store/telephony/sip-accounts.ts";
import { createSipIncoming, type CountContextProblems } from "../../telephony/sip/incoming.ts";
import { KnownSources } from "../../telephony/sip/known-sources.ts";
import { createSipOutcomes } from "../../telephony/sip/outcomes.ts";
import { SipRegistrations } from "../../telephony/sip/registrations.ts";
import { withSipDialling } from "../../telephony/sip/outgoing.ts";
import { openUserAgent, ownAddress } from "../../transports/sip/agent/open-user-agent.ts";
import { SipCalls } from "../../transports/sip/calls/sip-calls.ts";
import type { SipUserAgent } from "../../transports/sip/user-agent.ts";
import type { Parts } from "../parts.ts";
import { fallbackAsker } from "./sip-fallback.ts";

export interface OpenedSip {
  /** Dials calls over SIP, and leaves the others to `others`. */
  readonly withDialling: (others: PrepareDial) => PrepareDial;
  /** Begins to take calls. @throws when an address cannot be bound or a file cannot be read */
  readonly open: (createCall: CreateCall) => Promise<void>;
  readonly close: () => Promise<void>;
}

type SipParts = Pick<
  Parts,
  "config" | "store" | "client" | "nodeId" | "liveCalls" | "legThreads" | "sources" | "schemas" | "logger"
>;

/** What answers once the service is ready. */
interface Listening {
  agent: SipUserAgent | null;
  answer: ReturnType<typeof createSipIncoming> | null;
}

export function createSip(parts: SipParts, settings: SipSettings): OpenedSip {
  const { config, liveCalls, logger } = parts;
  const { db } = parts.store;
  const listening: Listening = { agent: null, answer: null };
  const agentOf = (): SipUserAgent => {
    if (listening.agent === null) throw new Error("the SIP user agent is not open");
    return listening.agent;
  };
  const fallback = fallbackAsker(parts);
  const registrations = registrationsOf(parts, agentOf);
  const calls = new SipCalls({
    agent: agentOf,
    media: mediaOf(parts, settings),
    listener: {
      ...createSipOutcomes({ db, liveCalls, logger }),
      offered: (call) => listening.answer?.(call) ?? Promise.resolve({ kind: "refused", status: 503 }),
    },
    faulted: (error) => logger.error({ error: messageOf(error) }, "a SIP call has failed"),
  });
  return {
    withDialling: (others) =>
      withSipDialling({ db, sipHost: config.sipHost, dialler: calls, liveCalls, logger }, others),
    async open(createCall) {
      const sources = sourcesOf(parts);
      listening.answer = createSipIncoming({
        db,
        sipHost: config.sipHost,
        sources,
        accountOfRegistration: (id) => registrations.accountOf(id),
        askFallback: fallback.ask,
        createCall,
        liveCalls,
        contextProblems: contextProblemsOf(parts),
        logger,
      });
      listening.agent = await openAgent(parts, settings, sources, calls);
      registrations.start();
    },
    async close() {
      fallback.close();
      await registrations.close();
      await listening.agent?.close();
    },
  };
}

async function openAgent(
  { config, logger }: SipParts,
  settings: SipSettings,
  sources: KnownSources,
  calls: SipCalls,
): Promise<SipUserAgent> {
  const tls = await tlsOf(settings);
  const agent = await openUserAgent({
    clock: openClock(),
    bind: settings.bind,
    port: settings.port,
    tls,
    announcedAddress: settings.announcedAddress,
    allowed: config.allowPrivateTargets,
    isKnown: (address) => sources.has(address),
    listener: {
      invited: (invite) => calls.invited(invite),
      logged: () => undefined,
      faulted: (error) => logger.error({ error: messageOf(error) }, "the SIP user agent has failed"),
    },
  }).catch((error: unknown) => {
    const ports = `SIP_BIND (${settings.bind}) and SIP_PORT (${String(settings.port)})`;
    throw new ConfigError(`${ports} cannot be used: ${messageOf(error)}`, { cause: error });
  });
  const bound = agent.bound.map(
    ({ transport, address, port }) => `${transport} ${address} port ${String(port)}`,
  );
  logger.info(`sip: ${bound.join(", ")}; domains of accounts are below ${config.sipHost}`);
  return agent;
}

function sourcesOf({ store, logger }: SipParts): KnownSources {
  return new KnownSources({
    read: () => readSipSources(store.db),
    nowMs: () => performance.now(),
    failed: (error) =>
      logger.error({ error: messageOf(error) }, "the sources of SIP calls could not be read"),
  });
}

function registrationsOf({ store, nodeId, logger }: SipParts, agent: () => SipUserAgent): SipRegistrations {
  return new SipRegistrations({
    db: store.db,
    holder: nodeId,
    logger,
    register: (
      { registrationId: id, proxy: registrar, username, password, outboundProxy, authUser },
      changed,
    ) =>
      agent().register(
        { id, registrar, username, password, outboundProxy, authUser },
        {
          changed: ({ successful, status, reason }) => changed(successful, `${String(status)} ${reason}`),
        },
      ),
  });
}

function mediaOf({ config, legThreads }: SipParts, { bind, announcedAddress }: SipSettings) {
  const announced = announcedAddress ?? ownAddress(bind);
  const address = { bind, announced };
  const isIpv6 = isIPv6(announced);
  return {
    openRtp: legThreads.openRtp,
    ipv4: isIpv6 ? null : address,
    ipv6: isIpv6 ? address : null,
    portRange: config.rtp.portRange,
    mayUse: (other: string) => addressAllowed(other, config.allowPrivateTargets),
  };
}

async function tlsOf({ tlsPort, certificate: files }: SipSettings) {
  if (files === null) return { port: tlsPort, certificate: null, key: null };
  const [certificate, key] = await Promise.all([
    readFile(files.path, "utf8"),
    readFile(files.keyPath, "utf8"),
  ]).catch((error: unknown) => {
    throw new ConfigError(`SIP_TLS_CERT_FILE and SIP_TLS_KEY_FILE cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  });
  return { port: tlsPort, certificate, key };
}

function contextProblemsOf({ store, sources, schemas }: SipParts): CountContextProblems {
  return async (accountId, agentId) => {
    const agent = await getAgentForCall(store.db, accountId, agentId);
    if (agent === null) return null;
    // Stored templates have passed the schema.
    const template = (agent.callTemplate ?? {}) as CallTemplate;
    const checker = await contextChecker(accountId, template, { ...sources, ...schemas });
    return async (context) => (await checker.problemsOf(context)).length;
  };
}
