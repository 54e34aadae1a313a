/** An agent's defaults for its calls. */

import { z } from "zod";
import { CallMedium, DataConnectionConfig } from "../media/call-medium.ts";
import { ClientMessages } from "../calls/client-messages.ts";
import {
  FirstSpeakerSettings,
  InactivityMessages,
  JoinTimeout,
  MaxDuration,
  ModelName,
  RetentionPolicyInput,
  SharedSecrets,
  Temperature,
  TranscriptHints,
  VoiceName,
} from "../calls/call-settings.ts";
import { FreeObject, readOnly, template, Timestamp } from "../values/fields.ts";
import { MessageMedium } from "../calls/message.ts";
import { SelectedTools } from "../tools/tool.ts";
import { VadSettings } from "../media/vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "../voices/voice.ts";

/**
 * Everything is optional; unset fields get their defaults when a call is created. Template strings are filled then,
 * so rules about the filled text (the length of `languageHint`) are also checked then.
 */
export const CallTemplate = withVoiceRules(
  z.strictObject({
    name: z.string().optional(),
    created: readOnly(Timestamp).optional(),
    updated: readOnly(Timestamp).optional(),
    medium: CallMedium.optional(),
    initialOutputMedium: MessageMedium.meta({ default: "MESSAGE_MEDIUM_VOICE" })
      .optional()
      .describe("Whether the agent starts by speaking or by writing."),
    joinTimeout: JoinTimeout.optional(),
    maxDuration: MaxDuration.optional(),
    vadSettings: VadSettings.optional(),
    recordingEnabled: z
      .boolean()
      .meta({ default: false })
      .optional()
      .describe("Records both sides of the call."),
    clientMessages: ClientMessages.optional(),
    firstSpeakerSettings: FirstSpeakerSettings.optional(),
    systemPrompt: template(z.string())
      .optional()
      .describe("Instructions for the model. A template string: `{{name}}` is filled at call creation."),
    temperature: Temperature.optional(),
    model: ModelName.optional(),
    voice: VoiceName.optional(),
    externalVoice: ExternalVoice.optional(),
    voiceOverrides: VoiceOverrides.optional(),
    languageHint: template(z.string())
      .optional()
      .describe("Language of the conversation as a BCP 47 tag, such as `en`. A template string."),
    transcriptHints: TranscriptHints.optional().describe(
      "Words and names that the recogniser should expect. `experimentalSettings.transcriptHints` of a call wins.",
    ),
    timeExceededMessage: template(z.string())
      .optional()
      .describe("What the agent says when `maxDuration` is over. A template string."),
    inactivityMessages: InactivityMessages.optional().describe(
      "What the agent says to a silent user, one after the other.",
    ),
    selectedTools: SelectedTools.optional().describe("Tools that the model can call."),
    dataConnection: DataConnectionConfig.optional(),
    contextSchema: FreeObject.optional().describe(
      "JSON Schema of the variables; made from the template strings when unset.",
    ),
    sharedSecrets: SharedSecrets.optional().describe(
      "Each signs the data connection; use several to rotate.",
    ),
    retentionPolicy: RetentionPolicyInput.optional(),
  }),
);
export type CallTemplate = z.output<typeof CallTemplate>;
