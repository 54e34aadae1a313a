/** Input of plan compilation for tests: from a request as it comes over the wire, and from any request at all. */

import { StartCallRequest } from "@parley/schema";
import * as fc from "fast-check";
import { DEFAULT_TURN_TAKING } from "../../config/turn-taking.ts";
import { requestedSettings } from "../../plan/requested-settings.ts";
import { settingsOf } from "../../plan/call-settings.ts";
import { compileCallPlan } from "../../plan/compile-plan.ts";
import type { CompileInput } from "../../plan/compile-plan.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { TurnTakingSettings } from "../../plan/turn-taking.ts";
import { DEFAULT_VOICE } from "../../plan/voice-plan.ts";

/** The service's own; the reply limit is the one that the recorded event logs were made with. */
export const turnTaking: TurnTakingSettings = { ...DEFAULT_TURN_TAKING, maximumReplyChars: 4_000 };

/** The bounds of the wire. */
export const noLimits = { joinTimeoutMs: 3_600_000, maxDurationMs: 86_400_000 };
export const socket = { serverWebSocket: { inputSampleRate: 16_000 } };

/** A call over a websocket, unless the request says otherwise. */
export function inputOf(request: object): CompileInput {
  const {
    initialMessages = [],
    metadata = {},
    ...rest
  } = StartCallRequest.parse({ medium: socket, ...request });
  const settings = settingsOf(requestedSettings(rest), noLimits);
  return {
    callId: "c",
    accountId: "a",
    agentId: null,
    stageId: "s",
    settings,
    names: { voice: DEFAULT_VOICE, model: "default" },
    tools: [],
    initialMessages,
    metadata,
    templateContext: {},
    callToken: "call-token",
    warnings: [],
    stageWarnings: [],
    greetingPrompt: true,
    turnTaking,
  };
}

export const planOf = (request: object): CallPlan => compileCallPlan(inputOf(request));

/** Requests with whatever parts; what the schema refuses is left out. */
export const requests = fc
  .record(
    {
      systemPrompt: fc.string(),
      temperature: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
      timeExceededMessage: fc.string(),
      joinTimeout: fc.integer({ min: 1, max: 3_600 }).map((seconds) => `${seconds}s`),
      recordingEnabled: fc.boolean(),
      metadata: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true }),
      initialState: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3, noNullPrototype: true }),
      firstSpeakerSettings: fc.constantFrom(
        { user: {} },
        { user: { fallback: {} } },
        { agent: { text: "Hi" } },
      ),
      vadSettings: fc.constantFrom({}, { minimumTurnDuration: "1.5s" }, { turnEndpointDelay: "0.1s" }),
      initialMessages: fc.array(
        fc.record({ role: fc.constantFrom("MESSAGE_ROLE_USER", "MESSAGE_ROLE_AGENT"), text: fc.string() }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  )
  // JSON has no negative zero, and a request is JSON.
  .map((request) => JSON.parse(JSON.stringify(request)) as object)
  .filter((request) => StartCallRequest.safeParse(request).success);
