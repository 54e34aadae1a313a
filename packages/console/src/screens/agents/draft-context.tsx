/** The template that the fields of the form read and change. */

import { createContext, useContext } from "react";
import { notes } from "virtual:field-notes/CallTemplate";
import { type Json, valueAt } from "./draft.ts";

export interface Draft {
  readonly template: Json;
  /** `undefined` brings the default back. */
  readonly set: (path: string, value: unknown) => void;
  /** Texts that are no JSON cannot be saved, and are not in the template. */
  readonly setValid: (path: string, valid: boolean) => void;
}

export const DraftContext = createContext<Draft | null>(null);

export function useDraft(): Draft {
  const draft = useContext(DraftContext);
  if (draft === null) throw new Error("There is no template around this field.");
  return draft;
}

export function useAt(path: string): readonly [value: unknown, set: (value: unknown) => void] {
  const { template, set } = useDraft();
  return [valueAt(template, path), (value) => set(path, value)];
}

/** What the interface says about a field of the template. */
export function noteOf(path: string): (typeof notes)[string] {
  return notes[path.replaceAll(/\.\d+(?=\.|$)/g, ".*")] ?? {};
}

/** How the service names the field in its errors. */
export function errorPath(path: string): string {
  return `callTemplate.${path}`;
}
