/** Shows the service's messages about fields, and warnings, at these fields. */

import { ParleyError } from "@parley/client/rest";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";

interface Errors {
  readonly of: (path: string) => string | null;
  /** Registers that the field shows its message, so that the summary does not. */
  readonly shows: (path: string) => () => void;
}

const ErrorsContext = createContext<Errors | null>(null);

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** The field errors of an error. */
export function faultsOf(error: unknown): readonly FieldFault[] {
  return error instanceof ParleyError ? (error.problem.errors ?? []) : [];
}

export interface FieldErrorsProps {
  /** From the last attempt; null without an error. */
  readonly error: unknown;
  /** `rest` are the errors that no field inside shows. */
  readonly children: (rest: readonly FieldFault[]) => ReactNode;
}

/** Passes the service's messages to the fields inside; errors without a field go to the children. */
export function FieldErrors({ error, children }: FieldErrorsProps) {
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const faults = useMemo(() => faultsOf(error), [error]);
  const shows = useCallback((path: string) => {
    const add = (by: number) => setShown((before) => new Map(before).set(path, (before.get(path) ?? 0) + by));
    add(1);
    return () => add(-1);
  }, []);
  const errors = useMemo<Errors>(() => ({ of: (path) => messageOf(faults, path), shows }), [faults, shows]);
  const rest = faults.filter(({ field }) => (shown.get(field) ?? 0) === 0);
  return <ErrorsContext value={errors}>{children(rest)}</ErrorsContext>;
}

function messageOf(faults: readonly FieldFault[], path: string): string | null {
  const messages = faults.filter(({ field }) => field === path).map(({ message }) => message);
  if (messages.length === 0) return null;
  const text = messages.join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The service's message about the field at `path`; null without one. */
export function useFieldError(path: string | undefined): string | null {
  const errors = useContext(ErrorsContext);
  const shows = errors?.shows;
  useEffect(() => (path === undefined ? undefined : shows?.(path)), [path, shows]);
  return path === undefined ? null : (errors?.of(path) ?? null);
}

/** Sentences by the path of their field. They do not stop the form from being sent. */
export type Warnings = ReadonlyMap<string, string>;

export const FieldWarnings = createContext<Warnings>(new Map());

/** The warning about the field at `path`; null without one. */
export function useFieldWarning(path: string | undefined): string | null {
  const warnings = useContext(FieldWarnings);
  return path === undefined ? null : (warnings.get(path) ?? null);
}
