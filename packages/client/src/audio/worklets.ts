/** Loads the audio worklet processors into a context, once. */

import { CallError } from "../call/call-error.ts";
import { WORKLET_CODE } from "../worklet/worklet-code.ts";

const loaded = new WeakMap<BaseAudioContext, Promise<void>>();

/**
 * @param url where the page serves the package's `worklet.js`; null: the code is loaded from a `blob:` address
 * @throws CallError `unsupported`
 */
export function loadWorklets(context: BaseAudioContext, url: string | null): Promise<void> {
  const known = loaded.get(context);
  if (known !== undefined) return known;
  const loading = load(context, url);
  loaded.set(context, loading);
  // A retry may use another URL.
  loading.catch(() => loaded.delete(context));
  return loading;
}

async function load(context: BaseAudioContext, url: string | null): Promise<void> {
  // Absent in pages without https, whatever the types say.
  const worklet = context.audioWorklet as AudioWorklet | undefined;
  if (worklet === undefined) {
    throw new CallError(
      "unsupported",
      "Audio worklets are not available here: they need https or localhost.",
    );
  }
  const own = url ?? URL.createObjectURL(new Blob([WORKLET_CODE], { type: "text/javascript" }));
  try {
    await worklet.addModule(own);
  } catch (cause) {
    throw new CallError(
      "unsupported",
      "The audio worklet could not be loaded. A Content-Security-Policy without blob: needs the option workletUrl.",
      { cause },
    );
  } finally {
    if (url === null) URL.revokeObjectURL(own);
  }
}
