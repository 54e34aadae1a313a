import { Readable } from "node:stream";
import {
  ApiError,
  type ExternalVoice,
  type FieldError,
  toVendorName,
  validationError,
  type VoiceKind,
  voiceKindOf,
  type voiceRoutes,
} from "@parley/schema";
import { listVoices, type PublicVoice } from "../../store/agents/voice-list.ts";
import {
  changeVoice,
  createVoice,
  deleteVoice,
  getSpokenVoice,
  getVoice,
  type NewVoice,
  type VoiceRow,
} from "../../store/agents/voices.ts";
import { getTtsKeyPrefixes } from "../../store/accounts/tts-keys.ts";
import type { VoicePreview } from "../../voices/voice-previews.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlerResult, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { voiceResource } from "../resources/resources.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { notAvailable, notFound } from "./shared.ts";
import { getTtsApiKeysRoute, setTtsApiKeysRoute } from "./tts-keys.ts";
import { voiceSampleOf, type VoiceSample } from "./voice-sample.ts";

/** Shows voices to an account: `billingStyle` depends on whose keys they are spoken with. */
async function voiceShower(accountId: string, deps: HandlerDeps): Promise<(row: VoiceRow) => Resource> {
  const spell = deps.http.settings.apiNames === "vendor" ? toVendorName : (name: string) => name;
  const included = await includedKinds(accountId, deps);
  return (row) => voiceResource(row, deps.publicUrl(), spell, included);
}

/** Providers whose voices the account hears with a key of the deployment (D77). */
async function includedKinds(accountId: string, { http }: HandlerDeps): Promise<ReadonlySet<VoiceKind>> {
  const { deploymentVoiceKinds, store } = http;
  if (deploymentVoiceKinds.size === 0) return deploymentVoiceKinds;
  const own = await getTtsKeyPrefixes(store.db, accountId);
  return new Set([...deploymentVoiceKinds].filter((kind) => own[kind] === null));
}

const listVoicesRoute: Handler<"listVoices"> = async ({ accountId, query, list }, deps) => {
  const { store, publicVoices } = deps.http;
  const { billingStyle, ownership, primaryLanguage, provider: kinds, search } = query;
  const included = billingStyle === undefined ? undefined : billingStyle === "VOICE_BILLING_STYLE_INCLUDED";
  const includedKindsOf = included === undefined ? [] : [...(await includedKinds(accountId, deps))];
  const filter = { ownership, included, includedKinds: includedKindsOf, primaryLanguage, kinds, search };
  const page = await pageAnswer(
    list,
    (wanted) => listVoices(store.db, accountId, publicVoices(), filter, wanted),
    await voiceShower(accountId, deps),
  );
  return { status: 200, json: page };
};

const createVoiceRoute: Handler<"createVoice"> = async (input, deps) => {
  const { body, upload, form } = input;
  if (upload !== null && form !== undefined) return clonedVoice(input, { upload, form }, deps);
  refuseTarget(body.definition, deps);
  const { name, description = null, primaryLanguage = null, definition } = body;
  return stored(input, { name, description, primaryLanguage, definition }, deps);
};

async function stored(
  { accountId, change }: Pick<HandlerInput<"createVoice">, "accountId" | "change">,
  voice: NewVoice,
  deps: HandlerDeps,
): Promise<HandlerResult> {
  const row = await change((tx) => createVoice(tx, accountId, voice), { idOf: ({ voiceId }) => voiceId });
  const headers = { location: `${deps.publicUrl()}/api/voices/${row.voiceId}` };
  const show = await voiceShower(accountId, deps);
  return { status: 201, json: show(row), headers };
}

/** Limits of a recording (D72). Shorter ones make bad voices, and providers take no longer ones. */
const MIN_SAMPLE_MS = 5_000;
const MAX_SAMPLE_MS = 300_000;
/** Of the form, where it names no language. */
const DEFAULT_LANGUAGE = "en";

async function clonedVoice(
  input: HandlerInput<"createVoice">,
  {
    upload,
    form,
  }: { readonly upload: Uint8Array; readonly form: NonNullable<HandlerInput<"createVoice">["form"]> },
  deps: HandlerDeps,
): Promise<HandlerResult> {
  const recording = voiceSampleOf(upload);
  if (recording === null) throw fileError("must be speech as MP3 or WAV");
  const cloner = await deps.http.clonerFor(input.accountId);
  if (cloner === null) {
    throw new ApiError(
      "forbidden",
      "No voice provider of this deployment can create voices from recordings.",
    );
  }
  checkDuration(recording);
  const { name, description = null, language = DEFAULT_LANGUAGE } = form;
  const outcome = await cloner.clone({ name, description, language, recording });
  if (outcome.kind === "busy") {
    throw new ApiError("no_capacity", "Too many voices are made from recordings now; try again shortly.");
  }
  if (outcome.kind === "failed") {
    throw new ApiError(
      "validation_failed",
      `${cloner.vendor} could not create the voice: ${outcome.reason}.`,
    );
  }
  try {
    const voice = { name, description, primaryLanguage: language, definition: outcome.definition };
    return await stored(input, voice, deps);
  } catch (error) {
    await outcome.undo();
    throw error;
  }
}

function checkDuration({ durationMs }: VoiceSample): void {
  if (durationMs === null) throw fileError("must be speech as MP3 or WAV; it has no audio that can be read");
  if (durationMs >= MIN_SAMPLE_MS && durationMs <= MAX_SAMPLE_MS) return;
  const seconds = (durationMs / 1_000).toFixed(1);
  throw fileError(`must have 5 seconds to 5 minutes of speech, not ${seconds} s`);
}

function fileError(message: string): ApiError {
  return validationError([{ field: "file", message }]);
}

const getVoiceRoute: Handler<"getVoice"> = async ({ accountId, params }, deps) => {
  const row = await voiceOrNotFound(deps, accountId, params.voice_id);
  const show = await voiceShower(accountId, deps);
  return { status: 200, json: show(row) };
};

const replaceVoiceRoute: Handler<"replaceVoice"> = async (input, deps) => {
  const { description = null, primaryLanguage = null } = input.body;
  return changed(input, { ...input.body, description, primaryLanguage }, deps);
};

const updateVoiceRoute: Handler<"updateVoice"> = async (input, deps) => changed(input, input.body, deps);

async function changed(
  { accountId, params, change }: Pick<HandlerInput<"updateVoice">, "accountId" | "params" | "change">,
  changes: Parameters<typeof changeVoice>[3],
  deps: HandlerDeps,
): Promise<HandlerResult> {
  const { voice_id: voiceId } = params;
  refusePublic(voiceId, deps);
  refuseTarget(changes.definition, deps);
  const row = await change((tx) => changeVoice(tx, accountId, voiceId, changes));
  if (row === null) throw notFound("voice");
  const show = await voiceShower(accountId, deps);
  return { status: 200, json: show(row) };
}

const deleteVoiceRoute: Handler<"deleteVoice"> = async ({ accountId, params, change }, deps) => {
  refusePublic(params.voice_id, deps);
  if (!(await change((tx) => deleteVoice(tx, accountId, params.voice_id)))) throw notFound("voice");
  return { status: 204 };
};

const getVoicePreviewRoute: Handler<"getVoicePreview"> = async ({ accountId, params }, deps) => {
  const { http } = deps;
  const { voice_id: voiceId } = params;
  const everybodys = publicVoice(voiceId, deps);
  if (everybodys !== null) return sampleAnswer(await http.previewVoice(everybodys), voiceId);
  const own = await getSpokenVoice(http.store.db, accountId, voiceId);
  if (own === null) throw notFound("voice");
  return definitionSample(accountId, own, voiceId, deps);
};

const previewVoiceRoute: Handler<"previewVoice"> = async ({ accountId, body }, deps) => {
  refuseTarget(body.definition, deps);
  const { definition, primaryLanguage = null } = body;
  return definitionSample(accountId, { definition, primaryLanguage }, "preview", deps);
};

/** Says why a voice of a provider cannot be heard: first what the account can fix, then what this version lacks. */
async function definitionSample(
  accountId: string,
  {
    definition,
    primaryLanguage,
  }: { readonly definition: ExternalVoice; readonly primaryLanguage: string | null },
  fileName: string,
  { http }: HandlerDeps,
): Promise<HandlerResult> {
  const preview = await http.previewDefinition(accountId, definition, primaryLanguage);
  const kind = voiceKindOf(definition);
  if (preview.kind === "no_key") {
    const message = "needs a key for this provider, and the account has none";
    throw validationError([{ field: `definition.${kind}`, message }]);
  }
  if (preview.kind === "not_spoken") {
    throw notAvailable(`This version cannot speak with voices of ${kind} yet: it has no adapter for them.`);
  }
  return sampleAnswer(preview, fileName);
}

function sampleAnswer(preview: VoicePreview, fileName: string): HandlerResult {
  if (preview.kind === "busy") {
    throw new ApiError("no_capacity", "Too many previews wait for the voice engine; try again shortly.");
  }
  if (preview.kind === "failed") {
    throw new ApiError("validation_failed", `The voice preview failed: ${preview.reason}.`);
  }
  const headers = {
    "content-type": "audio/wav",
    "content-length": String(preview.wav.byteLength),
    "content-disposition": `inline; filename="${fileName}.wav"`,
  };
  return { status: 200, stream: Readable.from([preview.wav], { objectMode: false }), headers };
}

function publicVoice(voiceId: string, { http }: HandlerDeps): PublicVoice | null {
  return http.publicVoices().find((voice) => voice.voiceId === voiceId) ?? null;
}

async function voiceOrNotFound(deps: HandlerDeps, accountId: string, voiceId: string): Promise<VoiceRow> {
  const everybodys = publicVoice(voiceId, deps);
  if (everybodys !== null) return { ...everybodys, kind: null, definition: null };
  const row = await getVoice(deps.http.store.db, accountId, voiceId);
  if (row === null) throw notFound("voice");
  return row;
}

function refusePublic(voiceId: string, deps: HandlerDeps): void {
  if (publicVoice(voiceId, deps) !== null) {
    throw new ApiError("forbidden", "This voice is public and cannot be changed.");
  }
}

/** Literal addresses are refused when stored. */
function refuseTarget(definition: ExternalVoice | undefined, deps: HandlerDeps): void {
  const errors = definition === undefined ? [] : refusedVoiceTarget(definition, "definition", deps);
  if (errors.length > 0) throw validationError(errors);
}

/** The same as errors, for a voice at `field`. */
export function refusedVoiceTarget(
  { generic }: ExternalVoice,
  field: string,
  { http }: HandlerDeps,
): FieldError[] {
  const reason = generic === undefined ? null : http.refusedTarget(generic.url);
  return reason === null ? [] : [{ field: `${field}.generic.url`, message: `is not allowed: ${reason}` }];
}

export const voiceHandlers: HandlersOf<typeof voiceRoutes> = {
  listVoices: listVoicesRoute,
  createVoice: createVoiceRoute,
  getVoice: getVoiceRoute,
  replaceVoice: replaceVoiceRoute,
  updateVoice: updateVoiceRoute,
  deleteVoice: deleteVoiceRoute,
  getVoicePreview: getVoicePreviewRoute,
  previewVoice: previewVoiceRoute,
  getTtsApiKeys: getTtsApiKeysRoute,
  setTtsApiKeys: setTtsApiKeysRoute,
};
