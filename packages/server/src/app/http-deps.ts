/** Builds the dependencies and settings of the HTTP server. */

import manifest from "../../package.json" with { type: "json" };
import { accountRates } from "../lifecycle/create/admission.ts";
import { callResource, sampleCalls } from "../lifecycle/resource.ts";
import { connectCall, findJoin } from "../joins/find-join.ts";
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
    allowedOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    checkResponses: false,
  };
}

export function httpDeps(parts: Parts, { createCall, batches, carriers }: Actions): HttpDeps {
  const {
    config,
    engines,
    logger,
    metrics,
    store,
    secretsKey,
    recordings,
    liveCalls,
    nodes,
    sources,
    schemas,
  } = parts;
  const codecs = carrierCodecs(config.telnyxLinearOrder);
  return {
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
    createCall,
    carriers,
    findJoin: async (join) => ((await nodes.holds()) ? findJoin(store.db, liveCalls, join) : "gone"),
    connectCall: (input) => connectCall({ liveCalls, codecs, hangUp: parts.carrierCalls.hangUpLeft }, input),
    webRtc: parts.webRtc,
    sendToCall: (callId, message) => liveCalls.sendToCall(callId, message),
    endUnjoined: (callId) => liveCalls.endUnjoined(callId),
    console: parts.console,
    engines: parts.engineAdministration,
    testTool: createToolTest(openToolTester(parts.client, config.apiNames)),
    refusedTarget: (url, kind) => refusedLiteral(url, config.allowPrivateTargets, kind),
    deliver: parts.deliver,
    dispatchBatches: () => batches.wake(),
    callResource,
    sampleCall: sampleCalls(config),
    toolsOfOpenApi: openOpenApiImports(parts.jobPool.run),
    nowMs: Date.now,
  };
}
