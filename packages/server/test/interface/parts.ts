/** The parts of the interface with their rows: the requests of each, and what shows that it behaves as it says. */

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
import * as calls from "./shown-in-calls.ts";
import * as records from "./shown-in-records.ts";
import type { ShownRows } from "./shown.ts";
import { agentRules, templateRules } from "./template-rules.ts";
import { callToolRules, selectedToolRules, toolDefinitionRules } from "./tool-rules.ts";

export interface Part {
  readonly rules: Rules<string>;
  readonly shown: ShownRows<string>;
}

export const PARTS: Readonly<Record<string, Part>> = {
  Agent: { rules: agentRules, shown: calls.agentShown },
  "Call template": { rules: templateRules, shown: calls.templateShown },
  "Call medium": { rules: mediumRules, shown: calls.mediumShown },
  "Enabled data messages": { rules: messageFlagRules, shown: calls.messageFlagShown },
  "Data connection": { rules: dataConnectionRules, shown: calls.dataConnectionShown },
  "VAD settings": { rules: vadRules, shown: calls.vadShown },
  "First speaker settings": { rules: firstSpeakerRules, shown: calls.firstSpeakerShown },
  "External voice": { rules: voiceRules, shown: calls.voiceShown },
  "Timed message": { rules: timedMessageRules, shown: calls.timedMessageShown },
  "Selected tool": { rules: selectedToolRules, shown: calls.selectedToolShown },
  "Tool definition": { rules: toolDefinitionRules, shown: calls.toolDefinitionShown },
  "Call tool": { rules: callToolRules, shown: calls.callToolShown },
  "Scheduled call batch": { rules: batchRules, shown: records.batchShown },
  "Scheduled call": { rules: scheduledCallRules, shown: records.scheduledCallShown },
  Corpus: { rules: corpusRules, shown: records.corpusShown },
  "Telephony configuration": { rules: telephonyRules, shown: records.telephonyShown },
  Webhook: { rules: webhookRules, shown: records.webhookShown },
  Endpoints: { rules: endpointRules, shown: records.endpointShown },
  "What all operations share": { rules: commonRules, shown: records.commonShown },
};
