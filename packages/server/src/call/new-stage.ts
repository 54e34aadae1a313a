/** From a tool's answer to the next stage: what it changes, filled and checked, over what the stage before had (D56). */

import { ApiError, NewStageBody, parseBody, voiceKindOf } from "@parley/schema";
import type { CallTemplate, FieldError } from "@parley/schema";
import type { AskedSettings } from "./asked-settings.ts";
import { missingThings, resolveNames } from "./availability.ts";
import type { Available } from "./availability.ts";
import { settingsErrors } from "./call-settings.ts";
import type { StageSettings } from "./call-settings.ts";
import { compileStage, deepFreeze, initialMessage, vadPlan } from "./compile-plan.ts";
import type { CompiledTool } from "./compile-tools.ts";
import { faultField } from "./context-schema.ts";
import type { CheckSchema, CheckValue } from "./context-schema.ts";
import type { InitialMessage, StagePlan } from "./plan.ts";
import { contextSchemaOf, fillTemplates } from "./template-fields.ts";
import type { ParseTemplate, TemplateContext } from "./template-text.ts";

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

/** What the model is told when the answer does not say (D147). */
const DEFAULT_RESULT = "OK";

/** Faults named in a refusal; the sentence is for whoever wrote the tool, who mends the first ones first. */
const MAX_NAMED_FAULTS = 3;

export function stageRefusal(errors: readonly FieldError[]): { readonly error: string } {
  const named = errors
    .slice(0, MAX_NAMED_FAULTS)
    .map(({ field, message }) => (field === "" ? message : `${field} ${message}`));
  const more = errors.length - named.length;
  return { error: `The new stage cannot begin: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.` };
}

export interface TemplateReader {
  readonly parseTemplate: ParseTemplate;
  readonly checkSchema: CheckSchema;
  readonly checkValue: CheckValue;
}

/** The answer with its texts filled from the call's context and its own. */
export function readNewStage(
  document: string,
  callContext: TemplateContext,
  reader: TemplateReader,
): { readonly body: NewStageBody } | { readonly error: string } {
  const parsed = parsedBody(document);
  if ("error" in parsed) return parsed;
  const { body } = parsed;
  const { contextSchema, systemPrompt, languageHint, timeExceededMessage } = body;
  const { inactivityMessages, selectedTools } = body;
  // Templates know only these parts, so that a context that fills them fills everything.
  const template: CallTemplate = {
    contextSchema,
    systemPrompt,
    languageHint,
    timeExceededMessage,
    inactivityMessages,
    selectedTools,
  };
  const schema = contextSchemaOf(template, reader.parseTemplate);
  const unusable = reader.checkSchema(schema).map((fault) => ({
    field: faultField("contextSchema", fault),
    message: fault.message,
  }));
  if (unusable.length > 0) return stageRefusal(unusable);
  const context = { ...callContext, ...body.templateContext };
  const unsatisfied = reader.checkValue(schema, context).map((fault) => ({
    field: faultField("templateContext", fault),
    message: fault.message,
  }));
  if (unsatisfied.length > 0) return stageRefusal(unsatisfied);
  const result = fillTemplates(template, context, reader.parseTemplate);
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
  try {
    return { body: parseBody(NewStageBody, json) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return stageRefusal(error.errors.length > 0 ? error.errors : [{ field: "", message: error.message }]);
  }
}

export interface StageGround {
  readonly stageId: string;
  readonly from: StagePlan;
  readonly available: Available;
  /** Null: those of the stage before. */
  readonly tools: readonly CompiledTool[] | null;
}

/** Lengths of time are the call's and not a stage's. */
const NO_DURATIONS = { joinTimeoutMs: Infinity, maxDurationMs: Infinity };

/** The stage, once its tools are compiled. `body` has its texts filled. */
export function compileNewStage(body: NewStageBody, ground: StageGround): NewStage {
  const { from, tools } = ground;
  const settings = settingsOfStage(body, from.document.settings);
  const asked = askedOf(settings, keepsVoice(body));
  const { names, errors, unavailable } = resolveNames(asked, ground.available);
  const problems = [
    ...errors,
    ...settingsErrors(asked, NO_DURATIONS),
    ...missingThings(asked, ground.available),
  ];
  // Told only when nothing else is wrong, as when a call is created.
  if (problems.length === 0) {
    if (asked.values.externalVoice !== undefined) {
      const field = `externalVoice.${voiceKindOf(asked.values.externalVoice)}`;
      problems.push({ field, message: "is not available in this version" });
    }
    problems.push(...unavailable.map((message) => ({ field: "", message })));
  }
  if (problems.length > 0) return stageRefusal(problems);
  const stage = compileStage({
    stageId: ground.stageId,
    settings,
    vad: body.vadSettings === undefined ? from.vad : vadPlan(body.vadSettings),
    // The voice before was found when its stage began; what became of its record since does not concern the call.
    names: keepsVoice(body) ? { ...names, voice: from.voice } : names,
    tools: tools === null ? from.tools : tools.map(({ plan }) => plan),
    listed: tools === null ? from.document.tools : tools.map(({ listed }) => listed),
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

/** Any voice of the answer replaces the voice before with all that belongs to it. */
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
    // A hint whose template was filled with nothing is no hint.
    languageHint: hint === "" ? null : hint,
    model: body.model ?? before.model,
    temperature: body.temperature ?? before.temperature,
    externalVoice: sameVoice ? before.externalVoice : (body.externalVoice ?? null),
    voiceOverrides: sameVoice ? before.voiceOverrides : (body.voiceOverrides ?? null),
    inactivityMessages: body.inactivityMessages ?? before.inactivityMessages,
    experimentalSettings: before.experimentalSettings,
    initialState: body.initialState ?? before.initialState,
  };
}

/** In the shape in which calls are checked; a voice that is kept was checked before. */
function askedOf(settings: StageSettings, keepsVoice: boolean): AskedSettings {
  const { model, voice, externalVoice, voiceOverrides, languageHint } = settings;
  return {
    values: {
      model,
      ...(keepsVoice || voice === null ? {} : { voice }),
      ...(keepsVoice || externalVoice === null ? {} : { externalVoice }),
      ...(keepsVoice || voiceOverrides === null ? {} : { voiceOverrides }),
      ...(languageHint === null ? {} : { languageHint }),
    },
    tools: [],
    fieldOf: (key) => key,
  };
}
