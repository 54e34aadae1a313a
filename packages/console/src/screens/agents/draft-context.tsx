/** The template that the form's fields edit. */

import { createContext, useContext } from "react";
import { notes } from "virtual:field-notes/CallTemplate";
import { type Json, valueAt } from "./draft.ts";

export interface Draft {
  readonly template: Json;
  /** `undefined` restores the default. */
  readonly set: (path: string, value: unknown) => void;
  /** Invalid JSON cannot be saved and is not in the template. */
  readonly setValid: (path: string, valid: boolean) => void;
}

export const DraftContext = createContext<Draft | null>(null);

export function useDraft(): Draft {
  const draft = useContext(DraftContext);
  if (draft === null) throw new Error("This field needs a template around it.");
  return draft;
}

export function useAt(path: string): readonly [value: unknown, set: (value: unknown) => void] {
  const { template, set } = useDraft();
  return [valueAt(template, path), (value) => set(path, value)];
}

/** The schema's notes on a field of the template. */
export function noteOf(path: string): (typeof notes)[string] {
  return notes[path.replaceAll(/\.\d+(?=\.|$)/g, ".*")] ?? {};
}

/** The path of the field in errors of the service. */
export function errorPath(path: string): string {
  return `callTemplate.${path}`;
}
