import { Readable } from "node:stream";
import {
  ApiError,
  type ExternalVoice,
  type FieldError,
  toVendorName,
  validationError,
  type voiceRoutes,
} from "@parley/schema";
import { listVoices, type PublicVoice } from "../../store/agents/voice-list.ts";
import { changeVoice, createVoice, deleteVoice, getVoice, type VoiceRow } from "../../store/agents/voices.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlerResult, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { voiceResource } from "../resources/resources.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { notFound } from "./shared.ts";
import { getTtsApiKeysRoute, refuseUnspoken, setTtsApiKeysRoute } from "./tts-keys.ts";
import { isVoiceSample } from "./voice-sample.ts";

function toVoiceResource(deps: HandlerDeps): (row: VoiceRow) => Resource {
  const spell = deps.http.settings.apiNames === "vendor" ? toVendorName : (name: string) => name;
  return (row) => voiceResource(row, deps.publicUrl(), spell);
}

const listVoicesRoute: Handler<"listVoices"> = async ({ accountId, query, list }, deps) => {
  const { store, publicVoices } = deps.http;
  const { billingStyle, ownership, primaryLanguage, provider: kinds, search } = query;
  const included = billingStyle === undefined ? undefined : billingStyle === "VOICE_BILLING_STYLE_INCLUDED";
  const filter = { ownership, included, primaryLanguage, kinds, search };
  const page = await pageAnswer(
    list,
    (wanted) => listVoices(store.db, accountId, publicVoices(), filter, wanted),
    toVoiceResource(deps),
  );
  return { status: 200, json: page };
};

const createVoiceRoute: Handler<"createVoice"> = async ({ accountId, body, upload, change }, deps) => {
  if (upload !== null) return refuseCloning(upload);
  refuseTarget(body.definition, deps);
  const { name, description = null, primaryLanguage = null, definition } = body;
  const voice = { name, description, primaryLanguage, definition };
  const row = await change((tx) => createVoice(tx, accountId, voice), { idOf: ({ voiceId }) => voiceId });
  const headers = { location: `${deps.publicUrl()}/api/voices/${row.voiceId}` };
  return { status: 201, json: toVoiceResource(deps)(row), headers };
};

/** A valid form, where this version cannot use it (D72). */
function refuseCloning(sample: Uint8Array): never {
  if (!isVoiceSample(sample)) {
    throw validationError([{ field: "file", message: "must be speech as MP3 or WAV" }]);
  }
  throw new ApiError("forbidden", "No voice provider of this deployment can create voices from recordings.");
}

const getVoiceRoute: Handler<"getVoice"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: toVoiceResource(deps)(await voiceOrNotFound(deps, accountId, params.voice_id)),
});

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
  return { status: 200, json: toVoiceResource(deps)(row) };
}

const deleteVoiceRoute: Handler<"deleteVoice"> = async ({ accountId, params, change }, deps) => {
  refusePublic(params.voice_id, deps);
  if (!(await change((tx) => deleteVoice(tx, accountId, params.voice_id)))) throw notFound("voice");
  return { status: 204 };
};

const getVoicePreviewRoute: Handler<"getVoicePreview"> = async ({ accountId, params }, deps) => {
  const everybodys = publicVoice(params.voice_id, deps);
  if (everybodys === null) {
    const { definition } = await voiceOrNotFound(deps, accountId, params.voice_id);
    return refuseUnspoken(definition as ExternalVoice, accountId, deps);
  }
  const preview = await deps.http.previewVoice(everybodys);
  if (preview.kind === "busy") {
    throw new ApiError("no_capacity", "Too many previews wait for the voice engine; try again shortly.");
  }
  if (preview.kind === "failed") {
    throw new ApiError("validation_failed", `The voice preview failed: ${preview.reason}.`);
  }
  const headers = {
    "content-type": "audio/wav",
    "content-length": String(preview.wav.byteLength),
    "content-disposition": `inline; filename="${params.voice_id}.wav"`,
  };
  return { status: 200, stream: Readable.from([preview.wav], { objectMode: false }), headers };
};

const previewVoiceRoute: Handler<"previewVoice"> = async ({ accountId, body }, deps) => {
  refuseTarget(body.definition, deps);
  return refuseUnspoken(body.definition, accountId, deps);
};

function publicVoice(voiceId: string, { http }: HandlerDeps): PublicVoice | null {
  return http.publicVoices().find((voice) => voice.voiceId === voiceId) ?? null;
}

async function voiceOrNotFound(deps: HandlerDeps, accountId: string, voiceId: string): Promise<VoiceRow> {
  const everybodys = publicVoice(voiceId, deps);
  if (everybodys !== null) return { ...everybodys, primaryLanguage: null, kind: null, definition: null };
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
