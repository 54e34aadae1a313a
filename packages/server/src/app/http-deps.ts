/** Builds the dependencies and settings of the HTTP server. */

import manifest from "../../package.json" with { type: "json" };
import { accountRates } from "../lifecycle/create/admission.ts";
import { callResource, sampleCalls } from "../lifecycle/resource.ts";
import { carrierCallOf } from "../store/telephony/call-owners.ts";
import { connectCall, type ConnectDeps } from "../joins/find-join.ts";
import { checkTemplates, contextChecker } from "../lifecycle/create/schema-checks.ts";
import { createToolTest } from "../lifecycle/tool-test.ts";
import { readEventLog } from "../lifecycle/event-log-reader.ts";
import type { HttpDeps } from "../http/deps.ts";
import type { BatchDispatcher } from "../jobs/batches/dispatcher.ts";
import { refusedLiteral } from "../net/target-url.ts";
import { getTtsKey } from "../store/accounts/tts-keys.ts";
import { publicVoices } from "../voices/public-voices.ts";
import { openOpenApiImports } from "../providers/openapi-tools/openapi-imports.ts";
import { carrierCodecs } from "../transports/telephony/codecs.ts";
import type { CreateCall } from "../lifecycle/api.ts";
import type { CarrierRequests } from "../telephony/api.ts";
import type { SipChecks } from "../telephony/sip/checks/check-trunk.ts";
import { givenNames } from "../plan/availability.ts";
import { enginesOut } from "./deployment/engines-out.ts";
import { openToolTester } from "./tool-invokers.ts";
import { createVoiceCloning, voiceCloners } from "./voices/voice-cloning.ts";
import { deploymentVoiceKeys, deploymentVoiceKinds } from "./voices/voice-providers.ts";
import type { Engines } from "./engines.ts";
import type { Parts } from "./parts.ts";

/** What requests can start in other parts of the service. */
export interface Actions {
  readonly createCall: CreateCall;
  readonly batches: Pick<BatchDispatcher, "wake">;
  readonly carriers: CarrierRequests;
  readonly sipChecks: SipChecks;
  readonly readMetrics: HttpDeps["readMetrics"];
  readonly sharesPort: boolean;
}

/** Phrases that every engine understands; null where no engine is limited to some. */
export function commonPhrases(
  engines: readonly Pick<Engines["llm"], "examplePhrases">[],
): readonly string[] | null {
  const [first, ...others] = engines.flatMap(({ examplePhrases: list }) =>
    list === undefined ? [] : [list],
  );
  return first?.filter((phrase) => others.every((list) => list.includes(phrase))) ?? null;
}

function voiceDeps({ config, engines, store, logger, previewVoice, previewDefinition }: Parts) {
  return {
    publicVoices: () => publicVoices(engines.tts),
    previewVoice,
    previewDefinition,
    deploymentVoiceKinds: deploymentVoiceKinds(config),
    clonerFor: createVoiceCloning({
      cloners: voiceCloners(config),
      readAccountKey: (accountId, provider) => getTtsKey(store.db, accountId, provider),
      deployment: deploymentVoiceKeys(config),
      logger,
    }),
  };
}

function httpSettings(config: Parts["config"]): HttpDeps["settings"] {
  return {
    rateLimitPerKey: config.rateLimitPerKey,
    rateLimitPerAccount: config.rateLimitPerAccount,
    ignoreUnknownFields: config.ignoreUnknownFields,
    apiNames: config.apiNames,
    sipHost: config.sipHost,
    servesSip: config.sip !== null,
    allowedOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    checkResponses: false,
  };
}

function joinDepsOf({ config, store, liveCalls, carrierCalls }: Parts): ConnectDeps {
  return {
    liveCalls,
    codecs: carrierCodecs(config.telnyxLinearOrder),
    hangUp: carrierCalls.hangUpLeft,
    // The one carrier whose streams name a call that the service then ends has this field.
    carrierCallOf: (callId) => carrierCallOf(store.db, callId, "CallSid"),
  };
}

export function httpDeps(parts: Parts, actions: Actions): HttpDeps {
  const { batches, ...given } = actions;
  const { config, engines, logger, metrics, store, secretsKey, recordings, nodes, reach, sources, schemas } =
    parts;
  const joinDeps = joinDepsOf(parts);
  return {
    ...given,
    host: config.host,
    port: config.port,
    // A free port is known only once the server listens.
    publicUrl: config.port === 0 ? null : config.publicUrl,
    version: manifest.version,
    logger,
    store,
    secretsKey,
    recordings,
    removeFiles: (callId) => parts.upkeep.removeFiles(callId),
    readEventLog: (accountId, callId) => readEventLog(store.db, accountId, callId),
    registry: metrics.registry,
    settings: httpSettings(config),
    modelNames: () => [...new Set([...sources.models(), ...givenNames(sources.aliases.models)])],
    nameAliases: () => sources.aliases,
    examplePhrases: () => commonPhrases([engines.stt, engines.llm]),
    ...voiceDeps(parts),
    lostEngines: () =>
      [engines.vad, engines.stt, engines.llm, engines.tts].flatMap((engine) => engine.unusable?.() ?? []),
    degradedParts: () => [
      ...engines.turnDetectors.flatMap((detector) => detector.unusable?.() ?? []),
      ...enginesOut(engines),
      ...[parts.jobPool.degraded(), parts.clock.degraded()].filter((reason) => reason !== null),
    ],
    checkTemplates: (accountId, template) => checkTemplates(accountId, template, sources),
    contextChecker: (accountId, template) => contextChecker(accountId, template, { ...sources, ...schemas }),
    accountRates: accountRates(config),
    rateShare: () => parts.announcer.share(),
    // A process whose node was taken by another one ends; clients find that one.
    findJoin: async (join) => ((await nodes.holds()) ? reach.findJoin(join) : "draining"),
    connectCall: (input) => reach.connecting(input.callId, () => connectCall(joinDeps, input)),
    webRtc: reach.webRtc,
    rooms: reach.rooms,
    sendToCall: reach.sendToCall,
    endUnjoined: reach.endUnjoined,
    console: parts.console,
    engines: parts.engineAdministration,
    searchCorpus: parts.retrieval.search,
    testTool: createToolTest(openToolTester(parts.client, config.apiNames)),
    refusedTarget: (url, kind) => refusedLiteral(url, config.allowPrivateTargets, kind),
    corpora: parts.corpora.actions,
    deliver: parts.deliver,
    dispatchBatches: () => batches.wake(),
    callResource,
    sampleCall: sampleCalls(config),
    toolsOfOpenApi: openOpenApiImports(parts.jobPool.run),
    nowMs: Date.now,
  };
}
