/** Bodies that create calls. */

import { z } from "zod";
import { CallMedium, DataConnectionConfig } from "../media/call-medium.ts";
import { ClientMessages } from "./client-messages.ts";
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
import { FreeObject, Uuid } from "../values/fields.ts";
import { withWholeSecrets } from "../values/masked.ts";
import { InitialMessage, MessageMedium } from "./message.ts";
import { SelectedTools } from "../tools/tool.ts";
import { VadSettings } from "../media/vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "../voices/voice.ts";

const InitialMessages = z.array(InitialMessage).max(MAX_INITIAL_MESSAGES);

const shared = {
  initialMessages: InitialMessages.optional().describe("Messages that the history starts with."),
  metadata: Metadata.optional(),
  medium: CallMedium.optional(),
  joinTimeout: JoinTimeout.optional(),
  maxDuration: MaxDuration.optional(),
  recordingEnabled: z
    .boolean()
    .meta({ default: false })
    .optional()
    .describe("Records both sides of the call."),
  clientMessages: ClientMessages.optional(),
  initialOutputMedium: MessageMedium.meta({ default: "MESSAGE_MEDIUM_VOICE" })
    .optional()
    .describe("Whether the agent starts by speaking or by writing."),
  firstSpeakerSettings: FirstSpeakerSettings.optional(),
  dataConnection: DataConnectionConfig.optional(),
  experimentalSettings: ExperimentalSettings.optional().describe(
    "Free-form; stored with the call. `transcriptionProvider` names its recogniser, and `transcriptHints` lists words " +
      "that the recogniser should expect.",
  ),
  callbacks: Callbacks.optional(),
  retentionPolicy: RetentionPolicyInput.optional(),
  sharedSecrets: SharedSecrets.optional().describe("Each signs the data connection; use several to rotate."),
  initialState: FreeObject.optional().describe("Call state that tools read and change."),
  voice: VoiceName.optional(),
  voiceOverrides: VoiceOverrides.optional(),
};

/** A call without an agent. Texts are not templates. */
export const StartCallRequest = withWholeSecrets(
  withVoiceRules(
    withFirstSpeakerRule(
      z.strictObject({
        systemPrompt: z.string().optional().describe("Instructions for the model."),
        temperature: Temperature.optional(),
        model: ModelName.optional(),
        externalVoice: ExternalVoice.optional(),
        languageHint: LanguageHint.optional(),
        timeExceededMessage: z
          .string()
          .optional()
          .describe("What the agent says when `maxDuration` is over."),
        inactivityMessages: InactivityMessages.optional().describe(
          "What the agent says to a silent user, one after the other.",
        ),
        selectedTools: SelectedTools.optional().describe("Tools that the model can call."),
        firstSpeaker: FirstSpeaker.optional().describe("Older form of `firstSpeakerSettings`."),
        transcriptOptional: z.boolean().meta({ deprecated: true }).optional().describe("Has no effect."),
        vadSettings: VadSettings.optional(),
        ...shared,
      }),
    ),
  ),
);
export type StartCallRequest = z.output<typeof StartCallRequest>;

/** Changes to the tools of the agent's template: removals first, then additions. */
export const ToolOverrides = z.strictObject({
  removeAll: z.boolean().optional(),
  remove: z.array(z.string()).max(128).optional().describe("Names by which the model calls the tools."),
  add: SelectedTools.optional(),
});
export type ToolOverrides = z.output<typeof ToolOverrides>;

/** A call of an agent. Fields given here override the agent's template. */
export const StartAgentCallRequest = withWholeSecrets(
  z.strictObject({
    agentId: Uuid.optional().describe("Must equal the agent of the path."),
    templateContext: FreeObject.optional().describe("Fills the template strings."),
    toolOverrides: ToolOverrides.optional(),
    ...shared,
  }),
);
export type StartAgentCallRequest = z.output<typeof StartAgentCallRequest>;
