/**
 * The settings of a call as its record shows them: the request with every default applied, in the spelling of
 * the wire. The plan is compiled from them.
 */

import {
  DEFAULT_CLIENT_MESSAGES,
  DEFAULT_JOIN_TIMEOUT,
  DEFAULT_MAX_DURATION,
  firstSpeakerOf,
  formatDurationMs,
  LanguageHint,
  parseDurationMs,
} from "@parley/schema";
import type { Call, CallStage, FieldError, FirstSpeakerSettings } from "@parley/schema";
import type { RequestedSettings } from "./requested-settings.ts";

/** Fields of the Call resource that are fixed at creation, and the secrets that go with them. */
export type CallSettings = Pick<
  Call,
  | "firstSpeaker"
  | "firstSpeakerSettings"
  | "initialOutputMedium"
  | "joinTimeout"
  | "maxDuration"
  | "medium"
  | "model"
  | "systemPrompt"
  | "timeExceededMessage"
  | "voice"
  | "languageHint"
  | "temperature"
  | "externalVoice"
  | "voiceOverrides"
  | "inactivityMessages"
  | "vadSettings"
  | "recordingEnabled"
  | "clientMessages"
  | "retentionPolicy"
  | "transcriptOptional"
  | "experimentalSettings"
  | "initialState"
  | "dataConnectionConfig"
  | "callbacks"
> & { readonly sharedSecrets?: readonly string[] };

/** Fields of the CallStage resource that are fixed when the stage begins. */
export type StageSettings = Pick<
  CallStage,
  | "systemPrompt"
  | "timeExceededMessage"
  | "voice"
  | "languageHint"
  | "model"
  | "temperature"
  | "externalVoice"
  | "voiceOverrides"
  | "inactivityMessages"
  | "experimentalSettings"
  | "initialState"
>;

/** The largest lengths of time that this deployment allows, in ms; they also cap the defaults. */
export interface DurationLimits {
  readonly joinTimeoutMs: number;
  readonly maxDurationMs: number;
}

/** Applies every default. The requested settings must have passed `settingsErrors`. */
export function settingsOf({ values }: RequestedSettings, limits: DurationLimits): CallSettings {
  const firstSpeakerSettings = firstSpeakerSettingsOf(values);
  return {
    firstSpeaker: firstSpeakerOf(firstSpeakerSettings),
    firstSpeakerSettings,
    initialOutputMedium: values.initialOutputMedium ?? "MESSAGE_MEDIUM_VOICE",
    joinTimeout: values.joinTimeout ?? capped(DEFAULT_JOIN_TIMEOUT, limits.joinTimeoutMs),
    maxDuration: values.maxDuration ?? capped(DEFAULT_MAX_DURATION, limits.maxDurationMs),
    medium: values.medium === undefined || isEmptyObject(values.medium) ? { webRtc: {} } : values.medium,
    model: values.model ?? "default",
    systemPrompt: values.systemPrompt ?? null,
    timeExceededMessage: values.timeExceededMessage ?? null,
    voice: values.voice ?? null,
    // A hint whose template rendered to nothing counts as unset.
    languageHint:
      values.languageHint === undefined || values.languageHint === "" ? null : values.languageHint,
    temperature: values.temperature ?? 0,
    externalVoice: values.externalVoice ?? null,
    voiceOverrides: values.voiceOverrides ?? null,
    inactivityMessages: values.inactivityMessages ?? [],
    vadSettings: values.vadSettings ?? null,
    recordingEnabled: values.recordingEnabled ?? false,
    clientMessages: values.clientMessages ?? DEFAULT_CLIENT_MESSAGES,
    retentionPolicy: values.retentionPolicy ?? "retain",
    transcriptOptional: values.transcriptOptional ?? true,
    experimentalSettings: values.experimentalSettings ?? null,
    initialState: values.initialState ?? {},
    dataConnectionConfig: values.dataConnection ?? null,
    callbacks: values.callbacks ?? null,
    ...(values.sharedSecrets === undefined ? {} : { sharedSecrets: values.sharedSecrets }),
  };
}

export function stageSettingsOf(settings: CallSettings): StageSettings {
  return {
    systemPrompt: settings.systemPrompt,
    timeExceededMessage: settings.timeExceededMessage,
    voice: settings.voice,
    languageHint: settings.languageHint,
    model: settings.model,
    temperature: settings.temperature,
    externalVoice: settings.externalVoice,
    voiceOverrides: settings.voiceOverrides,
    inactivityMessages: settings.inactivityMessages,
    experimentalSettings: settings.experimentalSettings,
    initialState: settings.initialState,
  };
}

function capped(duration: string, limitMs: number): string {
  return parseDurationMs(duration) <= limitMs ? duration : formatDurationMs(limitMs);
}

function isEmptyObject(value: object): boolean {
  return Object.values(value).every((member) => member === undefined);
}

function firstSpeakerSettingsOf({
  firstSpeaker,
  firstSpeakerSettings,
}: RequestedSettings["values"]): FirstSpeakerSettings {
  if (firstSpeakerSettings !== undefined) return firstSpeakerSettings;
  return firstSpeaker === "FIRST_SPEAKER_USER" ? { user: {} } : { agent: {} };
}

/** Errors that only the merged and filled settings show; the rest was checked when the body was read. */
export function settingsErrors(requested: RequestedSettings, limits: DurationLimits): FieldError[] {
  const { values, fieldOf } = requested;
  const errors: FieldError[] = [];
  const report = (key: keyof RequestedSettings["values"], message: string): void => {
    errors.push({ field: fieldOf(key), message });
  };
  if (values.voiceOverrides !== undefined && values.voice === undefined) {
    report("voiceOverrides", "must only be given together with voice");
  }
  const hint = LanguageHint.safeParse(values.languageHint ?? "");
  if (!hint.success) report("languageHint", hint.error.issues[0]?.message ?? "must be a language");
  if (exceeds(values.joinTimeout, limits.joinTimeoutMs)) {
    report("joinTimeout", `must be at most ${formatDurationMs(limits.joinTimeoutMs)} in this deployment`);
  }
  if (exceeds(values.maxDuration, limits.maxDurationMs)) {
    report("maxDuration", `must be at most ${formatDurationMs(limits.maxDurationMs)} in this deployment`);
  }
  return errors;
}

function exceeds(duration: string | undefined, limitMs: number): boolean {
  return duration !== undefined && parseDurationMs(duration) > limitMs;
}
