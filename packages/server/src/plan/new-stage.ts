/** Builds the next stage from a tool's answer: its changes, filled and checked, over the previous stage (D56). */

import { checkBody, NewStageBody } from "@parley/schema";
import type { CallTemplate, FieldError } from "@parley/schema";
import type { RequestedSettings } from "./requested-settings.ts";
import { missingThings, resolveNames } from "./availability.ts";
import type { Available } from "./availability.ts";
import { settingsErrors } from "./call-settings.ts";
import type { StageSettings } from "./call-settings.ts";
import { compileStage, deepFreeze, initialMessage, vadPlan } from "./compile-plan.ts";
import type { CompiledTool } from "./compile-tools.ts";
import { faultField } from "./context-schema.ts";
import type { JsonSchema, SchemaFault } from "./context-schema.ts";
import type { InitialMessage, StagePlan } from "./plan.ts";
import { contextSchemaOf, fillTemplates } from "./template-fields.ts";
import type { ParseTemplate, TemplateContext } from "./template-text.ts";
import type { VoicePlan } from "./voice-plan.ts";

export type NewStage =
  | {
      readonly stage: StagePlan;
      /** Null: the messages so far are inherited. */
      readonly initialMessages: readonly InitialMessage[] | null;
      /** Null: the state of the call is inherited. */
      readonly initialState: Readonly<Record<string, unknown>> | null;
      readonly toolResultText: string;
    }
  | { readonly error: string };

/** The tool result that the model sees when the answer has none. */
const DEFAULT_RESULT = "OK";

/** Faults named in a refusal; the sentence is for the author of the tool, who fixes the first ones first. */
const MAX_NAMED_FAULTS = 3;

export function stageRefusal(errors: readonly FieldError[]): { readonly error: string } {
  const named = errors
    .slice(0, MAX_NAMED_FAULTS)
    .map(({ field, message }) => (field === "" ? message : `${field} ${message}`));
  const more = errors.length - named.length;
  return { error: `The new stage cannot begin: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.` };
}

/** The answer of a tool, before its texts are filled. */
export interface ReadStage {
  readonly body: NewStageBody;
  /** The parts with template strings. Templates see only these, so a context that fills them fills everything. */
  readonly template: CallTemplate;
  /** Of the call, and its own. */
  readonly context: TemplateContext;
  /** Is checked itself, and then the context against it, before the texts are filled. */
  readonly schema: JsonSchema;
}

export function readNewStage(
  document: string,
  callContext: TemplateContext,
  parseTemplate: ParseTemplate,
): ReadStage | { readonly error: string } {
  const parsed = parsedBody(document);
  if ("error" in parsed) return parsed;
  const { body } = parsed;
  const { contextSchema, systemPrompt, languageHint, timeExceededMessage } = body;
  const { inactivityMessages, selectedTools } = body;
  const template: CallTemplate = {
    contextSchema,
    systemPrompt,
    languageHint,
    timeExceededMessage,
    inactivityMessages,
    selectedTools,
  };
  const context = { ...callContext, ...body.templateContext };
  return { body, template, context, schema: contextSchemaOf(template, parseTemplate) };
}

/** `root` is what the faults are of. */
export function contextRefusal(
  root: "contextSchema" | "templateContext",
  faults: readonly SchemaFault[],
): { readonly error: string } {
  return stageRefusal(faults.map((fault) => ({ field: faultField(root, fault), message: fault.message })));
}

/** The answer with its texts filled from a context that satisfies the schema. */
export function fillNewStage(
  { body, template, context }: ReadStage,
  parseTemplate: ParseTemplate,
): { readonly body: NewStageBody } | { readonly error: string } {
  const result = fillTemplates(template, context, parseTemplate);
  if ("errors" in result) {
    return stageRefusal(
      result.errors.map((error) => ({ ...error, field: error.field.replace(/^callTemplate\./, "") })),
    );
  }
  return { body: { ...body, ...result.filled } };
}

function parsedBody(document: string): { readonly body: NewStageBody } | { readonly error: string } {
  let json: unknown;
  try {
    json = JSON.parse(document);
  } catch {
    return stageRefusal([{ field: "", message: "its body is not JSON" }]);
  }
  const checked = checkBody(NewStageBody, json);
  return "errors" in checked ? stageRefusal(checked.errors) : { body: checked.value };
}

export interface StageGround {
  readonly stageId: string;
  readonly from: StagePlan;
  readonly available: Available;
  /** Null: those of the previous stage. */
  readonly tools: readonly CompiledTool[] | null;
}

/** Durations belong to the call and not to a stage. */
const NO_DURATIONS = { joinTimeoutMs: Infinity, maxDurationMs: Infinity };

/** The stage, once its tools are compiled. `body` has its texts filled. */
export function compileNewStage(body: NewStageBody, ground: StageGround): NewStage {
  const { from, tools } = ground;
  const settings = settingsOfStage(body, from.document.settings);
  const requested = requestedOf(settings, body, from);
  const { names, errors, unavailable, warnings } = resolveNames(requested, ground.available);
  const problems = [
    ...errors,
    ...settingsErrors(requested, NO_DURATIONS),
    ...missingThings(requested, ground.available),
  ];
  // Reported only when nothing else is wrong, as when a call is created.
  if (problems.length === 0) problems.push(...unavailable.map((message) => ({ field: "", message })));
  if (problems.length > 0) return stageRefusal(problems);
  const stage = compileStage({
    stageId: ground.stageId,
    settings,
    vad: body.vadSettings === undefined ? from.vad : vadPlan(body.vadSettings),
    // The previous voice was found when its stage began; later changes of its record do not affect the call, unless
    // the answer overrides settings of that record.
    names: keepsVoice(body) && !isOverridden(body, names.voice) ? { ...names, voice: from.voice } : names,
    tools: tools === null ? from.tools : tools.map(({ plan }) => plan),
    listed: tools === null ? from.document.tools : tools.map(({ listed }) => listed),
    // What is inherited was warned of when its stage began.
    warnings: warnings.filter(({ type }) => {
      if (type === "model.replaced") return body.model !== undefined;
      return type !== "voice.replaced" || !keepsVoice(body);
    }),
  });
  return deepFreeze(
    structuredClone({
      stage,
      initialMessages: body.initialMessages?.map(initialMessage) ?? null,
      initialState: body.initialState ?? null,
      toolResultText: body.toolResultText ?? DEFAULT_RESULT,
    }),
  );
}

/**
 * The voice whose record is needed: one that the answer names, or the previous one if the answer gives overrides for it.
 */
export function voiceToFind(body: NewStageBody, from: StagePlan): string | undefined {
  if (!keepsVoice(body)) return body.voice;
  return body.voiceOverrides === undefined ? undefined : (from.document.settings.voice ?? undefined);
}

function isOverridden({ voiceOverrides }: NewStageBody, voice: VoicePlan): boolean {
  return voiceOverrides !== undefined && voice.kind === "external";
}

/** Any voice of the answer replaces the previous voice with all its settings. */
function keepsVoice({ voice, externalVoice }: NewStageBody): boolean {
  return voice === undefined && externalVoice === undefined;
}

function settingsOfStage(body: NewStageBody, before: StageSettings): StageSettings {
  const sameVoice = keepsVoice(body);
  const hint = body.languageHint ?? before.languageHint;
  return {
    systemPrompt: body.systemPrompt ?? before.systemPrompt,
    timeExceededMessage: body.timeExceededMessage ?? before.timeExceededMessage,
    voice: sameVoice ? before.voice : (body.voice ?? null),
    // A hint whose template rendered to nothing counts as unset.
    languageHint: hint === "" ? null : hint,
    model: body.model ?? before.model,
    temperature: body.temperature ?? before.temperature,
    externalVoice: sameVoice ? before.externalVoice : (body.externalVoice ?? null),
    voiceOverrides: body.voiceOverrides ?? (sameVoice ? before.voiceOverrides : null),
    inactivityMessages: body.inactivityMessages ?? before.inactivityMessages,
    experimentalSettings: before.experimentalSettings,
    initialState: body.initialState ?? before.initialState,
  };
}

/** The shape in which calls are checked; an unchanged voice was checked before. */
function requestedOf(
  { model, languageHint }: StageSettings,
  body: NewStageBody,
  from: StagePlan,
): RequestedSettings {
  return {
    values: {
      model,
      voice: voiceToFind(body, from),
      externalVoice: body.externalVoice,
      voiceOverrides: body.voiceOverrides,
      ...(languageHint === null ? {} : { languageHint }),
    },
    tools: [],
    fieldOf: (key) => key,
  };
}
