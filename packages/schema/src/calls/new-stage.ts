/** The tool response that starts a new stage of a call. */

import { z } from "zod";
import {
  InactivityMessages,
  MAX_INITIAL_MESSAGES,
  ModelName,
  Temperature,
  VoiceName,
} from "./call-settings.ts";
import { FreeObject, template } from "../values/fields.ts";
import { InitialMessage } from "./message.ts";
import { SelectedTools } from "../tools/tool.ts";
import { VadSettings } from "../media/vad.ts";
import { ExternalVoice, VoiceOverrides, withVoiceRules } from "../voices/voice.ts";

/** Fields of a call's body that a stage cannot change. */
const FIXED_FOR_THE_CALL = [
  "medium",
  "firstSpeaker",
  "firstSpeakerSettings",
  "joinTimeout",
  "maxDuration",
  "recordingEnabled",
  "clientMessages",
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
 * Unset fields come from the previous stage. Template strings are filled from the context of the call and of the
 * response, so rules about the filled text (the length of `languageHint`) are checked then.
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
  { inheritsVoice: true },
);
export type NewStageBody = z.output<typeof NewStageBody>;
