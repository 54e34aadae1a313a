/** The values of an agent's template variables for one call, as they are entered. */

import { useState } from "react";
import { contextOf } from "./template-variables.ts";

export interface Variables {
  /** Values by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly setValue: (name: string, value: string) => void;
  /** The context as JSON, if texts are not enough. */
  readonly document: unknown;
  readonly setDocument: (document: unknown) => void;
  readonly valid: boolean;
  readonly setValid: (valid: boolean) => void;
  /** For another agent, which has other variables. */
  readonly clear: () => void;
  /** For the field `templateContext` of a request. */
  readonly context: () => Readonly<Record<string, unknown>>;
}

export function useVariables(): Variables {
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [document, setDocument] = useState<unknown>(undefined);
  const [valid, setValid] = useState(true);
  return {
    values,
    document,
    valid,
    setDocument,
    setValid,
    setValue: (name, value) =>
      setValues((before) => {
        const next = new Map(before);
        // Empty fields are not sent, so that the service reports required ones.
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      }),
    clear: () => {
      setValues(new Map());
      setDocument(undefined);
    },
    context: () => {
      const written = typeof document === "object" && document !== null ? { ...document } : {};
      return { ...contextOf(values), ...written };
    },
  };
}
