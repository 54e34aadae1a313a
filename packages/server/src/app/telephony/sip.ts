/** Binds the SIP user agent to the store and the calls. */

import type { CallTemplate } from "@parley/schema";
import { ConfigError } from "../../config/config-error.ts";
import { readPem } from "./pem-file.ts";
import type { SipSettings } from "../../config/sip.ts";
import { isFirst } from "../../config/workers/workers.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { PrepareDial } from "../../lifecycle/create/dialling.ts";
import { contextChecker } from "../../lifecycle/create/schema-checks.ts";
import { addressAllowed } from "../../net/address-filter.ts";
import { openClock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { getAgentForCall } from "../../store/agents/agents.ts";
import { resolveName } from "../../net/resolve-name.ts";
import { readSipSources } from "../../store/telephony/sip-accounts.ts";
import { CONSULTATION_TOOLS } from "../../plan/tool-plan.ts";
import { openConsultations } from "../../telephony/sip/transfers/consultations.ts";
import { createIncomingRefers } from "../../telephony/sip/transfers/incoming-refers.ts";
import type { SipTransferDeps } from "../../telephony/sip/transfers/sip-attempt.ts";
import { createSipTransfers } from "../../telephony/sip/transfers/sip-transfers.ts";
import { saveSipMessages } from "../../store/telephony/sip-messages.ts";
import { CallMessageStore } from "../../telephony/sip/call-message-store.ts";
import {
  createSipChecks,
  type SipCheckDeps,
  type SipChecks,
} from "../../telephony/sip/checks/check-trunk.ts";
import { createSipIncoming, type CountContextProblems } from "../../telephony/sip/incoming.ts";
import { KnownSources } from "../../telephony/sip/known-sources.ts";
import { createSipOutcomes } from "../../telephony/sip/outcomes.ts";
import { RefusedCalls } from "../../telephony/sip/refused-calls.ts";
import { SipRegistrations } from "../../telephony/sip/registrations.ts";
import { withSipDialling } from "../../telephony/sip/outgoing.ts";
import { openUserAgent } from "../../transports/sip/agent/open-user-agent.ts";
import { addressTowards, ownAddresses } from "../../transports/sip/sockets/own-addresses.ts";
import { sipProber } from "../../transports/sip/calls/prober.ts";
import { SipCalls } from "../../transports/sip/calls/sip-calls.ts";
import type { SipUserAgent } from "../../transports/sip/user-agent.ts";
import type { Parts } from "../parts.ts";
import { fetchHoldMusic } from "./hold-music.ts";
import { fallbackAsker } from "./sip-fallback.ts";
import type { SipTransferTools } from "./transfer-tools.ts";

export interface OpenedSip {
  /** Dials calls over SIP, and leaves the others to `others`. */
  readonly withDialling: (others: PrepareDial) => PrepareDial;
  readonly checks: SipChecks;
  /** Begins to take calls. @throws when an address cannot be bound or a file cannot be read */
  readonly open: (createCall: CreateCall) => Promise<void>;
  readonly close: () => Promise<void>;
}

type SipParts = Pick<
  Parts,
  | "config"
  | "store"
  | "client"
  | "nodeId"
  | "liveCalls"
  | "reach"
  | "legThreads"
  | "sources"
  | "schemas"
  | "metrics"
  | "toolInvoker"
  | "logger"
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
  const sources = sourcesOf(parts);
  const registrations = registrationsOf(parts, agentOf, sources);
  const messages = new CallMessageStore({ save: (batch) => saveSipMessages(db, batch), logger });
  const refused = new RefusedCalls(logger);
  const consultations = openConsultations({
    transfers: { callOf: (callId) => calls.callOf(callId) },
    endConversation: (callId) => void liveCalls.endCall(callId),
  });
  const calls: SipCalls = new SipCalls({
    agent: agentOf,
    media: mediaOf(parts, settings),
    listener: {
      ...consultations.watched(
        createSipOutcomes({ db, liveCalls, logger, measured: parts.metrics.telephony.sipMeasured }),
      ),
      offered: (call) => listening.answer?.(call) ?? Promise.resolve({ kind: "refused", status: 503 }),
    },
    referred: createIncomingRefers({
      db,
      sipHost: config.sipHost,
      nowMs: Date.now,
      counted: (outcome) => parts.metrics.telephony.transferEnded("sip", outcome),
      replaced: (callId) => void liveCalls.noteReplacedUser(callId),
      logger,
    }),
    messaged: messages.add,
    refused: refused.add,
    faulted: (error) => logger.error({ error: messageOf(error) }, "a SIP call has failed"),
  });
  return {
    withDialling: (others) =>
      withSipDialling({ db, sipHost: config.sipHost, dialler: calls, liveCalls, logger }, others),
    checks: sipChecks(parts, {
      prober: sipProber(agentOf),
      ownAddress: addressTowards("", ownAddresses(settings.bind, settings.announcedAddress)),
    }),
    async open(createCall) {
      parts.toolInvoker.serveSip(sipTransferTools(parts, { transfers: calls, consultations, createCall }));
      listening.answer = createSipIncoming({
        db,
        sipHost: config.sipHost,
        sources,
        accountOfRegistration: (id) => registrations.accountOf(id),
        askFallback: fallback.ask,
        createCall,
        claim: (callId) => parts.reach.claim(callId),
        contextProblems: contextProblemsOf(parts),
        logger,
      });
      listening.agent = await openAgent(parts, settings, sources, calls);
      // Registrars send calls to the ports of the first worker.
      if (isFirst(config.worker)) registrations.start();
    },
    async close() {
      fallback.close();
      await registrations.close();
      await listening.agent?.close();
      refused.close();
      await messages.close();
    },
  };
}

/** What the tools of a call over SIP do. */
function sipTransferTools(
  { config, store, client, liveCalls, metrics, logger }: SipParts,
  own: Pick<SipTransferDeps, "transfers" | "consultations" | "createCall">,
): SipTransferTools {
  const transfer = createSipTransfers({
    ...own,
    db: store.db,
    sipHost: config.sipHost,
    liveCalls,
    fetchMusic: (url, signal) => fetchHoldMusic(client, url, signal),
    nowMs: Date.now,
    counted: (outcome) => metrics.telephony.transferEnded("sip", outcome),
    logger,
  });
  return {
    serves: (callId) => own.transfers.callOf(callId) !== null,
    invoke: (invocation, signal) => {
      const { implementation } = invocation;
      const isAnswer =
        implementation.kind === "builtIn" &&
        CONSULTATION_TOOLS.some((name) => name === implementation.builtIn);
      return isAnswer ? Promise.resolve(own.consultations.answer(invocation)) : transfer(invocation, signal);
    },
  };
}

/** Without SIP, the checks say that it is off. */
export function sipChecks(
  { store, config }: Pick<Parts, "store" | "config">,
  own: Pick<SipCheckDeps, "prober" | "ownAddress"> = { prober: null, ownAddress: null },
): SipChecks {
  return createSipChecks({ db: store.db, sipHost: config.sipHost, addressesOf: resolveName, ...own });
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
      logged: (entry) => calls.logged(entry),
      logEnded: (owner) => calls.logEnded(owner),
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

function registrationsOf(
  { store, nodeId, logger }: SipParts,
  agent: () => SipUserAgent,
  sources: KnownSources,
): SipRegistrations {
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
          changed: ({ successful, status, reason, nextInMs, address }) =>
            changed({ isSuccessful: successful, status, reason, nextInMs }, address),
        },
      ),
    registrarsChanged: (addresses) => sources.setRegistrars(addresses),
  });
}

function mediaOf({ config, legThreads }: SipParts, { bind, announcedAddress }: SipSettings) {
  const { ipv4, ipv6 } = ownAddresses(bind, announcedAddress);
  // Sockets for media have one family each.
  const bind4 = bind === "::" ? "0.0.0.0" : bind;
  return {
    openRtp: legThreads.openRtp,
    ipv4: ipv4 === null ? null : { bind: bind4, announced: ipv4 },
    ipv6: ipv6 === null ? null : { bind, announced: ipv6 },
    portRange: config.rtp.portRange,
    mayUse: (other: string) => addressAllowed(other, config.allowPrivateTargets),
  };
}

async function tlsOf({ tlsPort, certificate: files, authorityFile }: SipSettings) {
  const [certificate, key, authorities] = await Promise.all([
    readPem("SIP_TLS_CERT_FILE", files?.path ?? null),
    readPem("SIP_TLS_KEY_FILE", files?.keyPath ?? null),
    readPem("SIP_TLS_CA_FILE", authorityFile ?? null),
  ]);
  return { port: tlsPort, certificate, key, ...(authorities === null ? {} : { authorities }) };
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
