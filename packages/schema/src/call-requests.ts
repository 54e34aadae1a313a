/** Bodies that create calls. */

import { z } from "zod";
import { CallMedium, DataConnectionConfig } from "./call-medium.ts";
import {
  Callbacks,
  ExperimentalSettings,
  FirstSpeaker,
  FirstSpeakerSettings,
  InactivityMessages,
  JoinTimeout,
  LanguageHint,
  MAX_INITIAL_MESSAGES,
  MaxDuration,
  Metadata,
  ModelName,
  RetentionPolicyInput,
  SharedSecrets,
  Temperature,
  VoiceName,
  withFirstSpeakerRule,
} from "./call-settings.ts";
import { FreeObject, Uuid } from "./fields.ts";
import { withWholeSecrets } from "./masked.ts";
import { InitialMessage, MessageMedium } from "./message.ts";
import { SelectedTools } from "./tool.ts";
import { VadSettings } from "./vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "./voice.ts";

const InitialMessages = z.array(InitialMessage).max(MAX_INITIAL_MESSAGES);

const shared = {
  initialMessages: InitialMessages.optional().describe("The history that the model finds."),
  metadata: Metadata.optional(),
  medium: CallMedium.optional(),
  joinTimeout: JoinTimeout.optional(),
  maxDuration: MaxDuration.optional(),
  recordingEnabled: z
    .boolean()
    .meta({ default: false })
    .optional()
    .describe("Keeps a recording of both sides."),
  initialOutputMedium: MessageMedium.meta({ default: "MESSAGE_MEDIUM_VOICE" })
    .optional()
    .describe("Whether the agent begins by speaking or by writing."),
  firstSpeakerSettings: FirstSpeakerSettings.optional(),
  dataConnection: DataConnectionConfig.optional(),
  experimentalSettings: ExperimentalSettings.optional().describe("Free; kept with the call."),
  callbacks: Callbacks.optional(),
  retentionPolicy: RetentionPolicyInput.optional(),
  sharedSecrets: SharedSecrets.optional().describe("Each signs the data connection; several serve rotation."),
  initialState: FreeObject.optional().describe("The state of the call that tools read and change."),
  voice: VoiceName.optional(),
  voiceOverrides: VoiceOverrides.optional(),
};

/** A call without an agent. Texts are taken as they are. */
export const StartCallRequest = withWholeSecrets(
  withVoiceRules(
    withFirstSpeakerRule(
      z.strictObject({
        systemPrompt: z.string().optional().describe("Tells the model its task and its manners."),
        temperature: Temperature.optional(),
        model: ModelName.optional(),
        externalVoice: ExternalVoice.optional(),
        languageHint: LanguageHint.optional(),
        timeExceededMessage: z.string().optional().describe("Said when `maxDuration` is over."),
        inactivityMessages: InactivityMessages.optional().describe(
          "Said one after the other to a silent user.",
        ),
        selectedTools: SelectedTools.optional().describe("What the model may call."),
        firstSpeaker: FirstSpeaker.optional().describe("Older form of `firstSpeakerSettings`."),
        transcriptOptional: z.boolean().meta({ deprecated: true }).optional().describe("Without effect."),
        vadSettings: VadSettings.optional(),
        ...shared,
      }),
    ),
  ),
);
export type StartCallRequest = z.output<typeof StartCallRequest>;

/** Changes to the tools of the agent's template: all or some are taken away, then others are added. */
export const ToolOverrides = z.strictObject({
  removeAll: z.boolean().optional(),
  remove: z.array(z.string()).max(128).optional().describe("Names by which the model calls the tools."),
  add: SelectedTools.optional(),
});
export type ToolOverrides = z.output<typeof ToolOverrides>;

/** A call of an agent. What is given here wins over the agent's template. */
export const StartAgentCallRequest = withWholeSecrets(
  z.strictObject({
    agentId: Uuid.optional().describe("Must equal the agent of the path."),
    templateContext: FreeObject.optional().describe("Fills the template strings."),
    toolOverrides: ToolOverrides.optional(),
    ...shared,
  }),
);
export type StartAgentCallRequest = z.output<typeof StartAgentCallRequest>;
