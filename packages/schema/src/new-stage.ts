/** The answer by which a tool begins a new stage of a call. */

import { z } from "zod";
import {
  InactivityMessages,
  MAX_INITIAL_MESSAGES,
  ModelName,
  Temperature,
  VoiceName,
} from "./call-settings.ts";
import { FreeObject, template } from "./fields.ts";
import { InitialMessage } from "./message.ts";
import { SelectedTools } from "./tool.ts";
import { VadSettings } from "./vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "./voice.ts";

/** Members of the body of a call that a stage cannot change. */
const FIXED_FOR_THE_CALL = [
  "medium",
  "firstSpeaker",
  "firstSpeakerSettings",
  "joinTimeout",
  "maxDuration",
  "recordingEnabled",
  "initialOutputMedium",
  "dataConnection",
  "experimentalSettings",
  "callbacks",
  "retentionPolicy",
  "sharedSecrets",
  "metadata",
  "transcriptOptional",
] as const;

const reason = "cannot be changed by a new stage";

/**
 * What is unset comes from the stage before. Template strings are filled from the call's context and the answer's own,
 * so that rules on the filled text (the length of `languageHint`) are checked then.
 */
export const NewStageBody = withVoiceRules(
  z
    .strictObject({
      systemPrompt: template(z.string()).optional(),
      temperature: Temperature.optional(),
      model: ModelName.optional(),
      voice: VoiceName.optional(),
      externalVoice: ExternalVoice.optional(),
      voiceOverrides: VoiceOverrides.optional(),
      languageHint: template(z.string()).optional(),
      initialMessages: z.array(InitialMessage).max(MAX_INITIAL_MESSAGES).optional(),
      selectedTools: SelectedTools.optional(),
      vadSettings: VadSettings.optional(),
      timeExceededMessage: template(z.string()).optional(),
      inactivityMessages: InactivityMessages.optional(),
      initialState: FreeObject.optional(),
      contextSchema: FreeObject.optional(),
      templateContext: FreeObject.optional(),
      toolResultText: z.string().optional(),
    })
    .meta({ refusedKeys: Object.fromEntries(FIXED_FOR_THE_CALL.map((key) => [key, reason])) }),
);
export type NewStageBody = z.output<typeof NewStageBody>;
