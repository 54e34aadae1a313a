/** An agent's defaults for its calls. */

import { z } from "zod";
import { CallMedium, DataConnectionConfig } from "./call-medium.ts";
import {
  FirstSpeakerSettings,
  InactivityMessages,
  JoinTimeout,
  MaxDuration,
  ModelName,
  RetentionPolicyInput,
  SharedSecrets,
  Temperature,
  VoiceName,
} from "./call-settings.ts";
import { FreeObject, readOnly, template, Timestamp } from "./fields.ts";
import { MessageMedium } from "./message.ts";
import { SelectedTools } from "./tool.ts";
import { VadSettings } from "./vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "./voice.ts";

/**
 * Everything is optional; what is unset takes its default when a call is created. Template strings are filled then,
 * so that rules on the filled text (the length of `languageHint`) are checked then as well.
 */
export const CallTemplate = withVoiceRules(
  z.strictObject({
    name: z.string().optional(),
    created: readOnly(Timestamp).optional(),
    updated: readOnly(Timestamp).optional(),
    medium: CallMedium.optional(),
    initialOutputMedium: MessageMedium.meta({ default: "MESSAGE_MEDIUM_VOICE" })
      .optional()
      .describe("Whether the agent begins by speaking or by writing."),
    joinTimeout: JoinTimeout.optional(),
    maxDuration: MaxDuration.optional(),
    vadSettings: VadSettings.optional(),
    recordingEnabled: z
      .boolean()
      .meta({ default: false })
      .optional()
      .describe("Keeps a recording of both sides."),
    firstSpeakerSettings: FirstSpeakerSettings.optional(),
    systemPrompt: template(z.string())
      .optional()
      .describe(
        "Tells the model its task and its manners. A template string: `{{name}}` is filled at call creation.",
      ),
    temperature: Temperature.optional(),
    model: ModelName.optional(),
    voice: VoiceName.optional(),
    externalVoice: ExternalVoice.optional(),
    voiceOverrides: VoiceOverrides.optional(),
    languageHint: template(z.string())
      .optional()
      .describe("Language of the conversation as a BCP 47 tag, such as `en`. A template string."),
    timeExceededMessage: template(z.string())
      .optional()
      .describe("Said when `maxDuration` is over. A template string."),
    inactivityMessages: InactivityMessages.optional().describe("Said one after the other to a silent user."),
    selectedTools: SelectedTools.optional().describe("What the model may call."),
    dataConnection: DataConnectionConfig.optional(),
    contextSchema: FreeObject.optional().describe(
      "JSON Schema of the variables; made from the template strings when unset.",
    ),
    sharedSecrets: SharedSecrets.optional().describe(
      "Each signs the data connection; several serve rotation.",
    ),
    retentionPolicy: RetentionPolicyInput.optional(),
  }),
);
export type CallTemplate = z.output<typeof CallTemplate>;
