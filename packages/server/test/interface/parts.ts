/** The parts of the interface with their rows. */

import { commonRules } from "./common-rules.ts";
import { endpointRules } from "./endpoint-rules.ts";
import { batchRules, corpusRules, scheduledCallRules, telephonyRules, webhookRules } from "./record-rules.ts";
import type { Rules } from "./rules.ts";
import {
  dataConnectionRules,
  firstSpeakerRules,
  mediumRules,
  messageFlagRules,
  timedMessageRules,
  vadRules,
  voiceRules,
} from "./setting-rules.ts";
import { agentRules, templateRules } from "./template-rules.ts";
import { callToolRules, selectedToolRules, toolDefinitionRules } from "./tool-rules.ts";

export const PARTS: Readonly<Record<string, Rules<string>>> = {
  Agent: agentRules,
  "Call template": templateRules,
  "Call medium": mediumRules,
  "Enabled data messages": messageFlagRules,
  "Data connection": dataConnectionRules,
  "VAD settings": vadRules,
  "First speaker settings": firstSpeakerRules,
  "External voice": voiceRules,
  "Timed message": timedMessageRules,
  "Selected tool": selectedToolRules,
  "Tool definition": toolDefinitionRules,
  "Call tool": callToolRules,
  "Scheduled call batch": batchRules,
  "Scheduled call": scheduledCallRules,
  Corpus: corpusRules,
  "Telephony configuration": telephonyRules,
  Webhook: webhookRules,
  Endpoints: endpointRules,
  "What all operations share": commonRules,
};
