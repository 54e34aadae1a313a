/** The service's messages about single fields, brought to where the fields are. */

import { ParleyError } from "@parley/client/rest";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";

interface Errors {
  readonly of: (path: string) => string | null;
  /** The field shows its own message, so a summary need not. */
  readonly shows: (path: string) => () => void;
}

const ErrorsContext = createContext<Errors | null>(null);

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** The faults that a refusal names, whatever else it is. */
export function faultsOf(error: unknown): readonly FieldFault[] {
  return error instanceof ParleyError ? (error.problem.errors ?? []) : [];
}

export interface FieldErrorsProps {
  /** Of the last attempt; null when there was none or it went well. */
  readonly error: unknown;
  /** `rest` are the faults of which no field inside says anything. */
  readonly children: (rest: readonly FieldFault[]) => ReactNode;
}

/** Gives the fields inside what the service says about them; faults without a field are handed to the children. */
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

/** The service's message about the field at `path`; null when there is none. */
export function useFieldError(path: string | undefined): string | null {
  const errors = useContext(ErrorsContext);
  const shows = errors?.shows;
  useEffect(() => (path === undefined ? undefined : shows?.(path)), [path, shows]);
  return path === undefined ? null : (errors?.of(path) ?? null);
}
