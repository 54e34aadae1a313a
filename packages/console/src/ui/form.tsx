/** Forms that send one change: checked here as far as that is possible, then by the service, each fault at its field. */

import { ParleyError } from "@parley/client/rest";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Button } from "./button.tsx";
import { FieldErrors, type FieldFault } from "./field-errors.tsx";
import { ErrorState } from "./states.tsx";
import styles from "./form.module.css";

export interface FormProps {
  /** Read aloud: what is filled in. */
  readonly label: string;
  /** On the button: a verb with its object. */
  readonly action: string;
  readonly onSave: () => Promise<unknown>;
  readonly onCancel?: (() => void) | undefined;
  /** What can be said before the service is asked; nothing is sent while there are faults. */
  readonly check?: (() => readonly FieldFault[]) | undefined;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

export function Form({ label, action, onSave, onCancel, check, disabled = false, children }: FormProps) {
  const { error, busy, submit, form } = useSubmit(onSave, check);
  return (
    <FieldErrors error={error}>
      {(rest) => (
        <form
          ref={form}
          className={styles.form}
          aria-label={label}
          noValidate
          onSubmit={(event) => void submit(event)}
        >
          {children}
          {error !== null && <Summary error={error} rest={rest} />}
          <div className={styles.actions}>
            {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
            <Button kind="primary" type="submit" busy={busy} disabled={disabled}>
              {action}
            </Button>
          </div>
        </form>
      )}
    </FieldErrors>
  );
}

function useSubmit(onSave: FormProps["onSave"], check: FormProps["check"]) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // To the first field that is wrong, which may be far above the button.
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // Forms in dialogs are inside the forms of their pages for React, though not for the browser.
    event.stopPropagation();
    if (busy) return;
    // Without what was said of the last attempt, what still is wrong is what a field itself found: text that is no JSON.
    flushSync(() => setError(null));
    const unreadable = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    unreadable?.focus();
    if (unreadable) return;
    const faults = check?.() ?? [];
    if (faults.length > 0) {
      setError(refusalOf(faults));
      return;
    }
    setBusy(true);
    try {
      await onSave();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { error, busy, submit, form };
}

/** Where all faults are at their fields, one line leads there; else the service's own words. */
function Summary({ error, rest }: { readonly error: unknown; readonly rest: readonly FieldFault[] }) {
  const placed = error instanceof ParleyError && (error.problem.errors ?? []).length > 0 && rest.length === 0;
  if (!placed) return <ErrorState error={error} faults={rest} />;
  return (
    <p role="alert" className={styles.refused}>
      Not sent: the fields above say what is to be put right.
    </p>
  );
}

/** A refusal as the service writes it, for faults that were found before it was asked. */
function refusalOf(faults: readonly FieldFault[]): ParleyError {
  return new ParleyError(
    {
      type: "about:blank",
      title: "This cannot be sent yet",
      status: 400,
      code: "validation_failed",
      detail: "Some fields are to be put right.",
      requestId: "",
      errors: faults.map(({ field, message }) => ({ field, message })),
    },
    null,
  );
}

/** Fields beside each other where there is room. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>;
}

export interface FieldsetProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly children: ReactNode;
}

export function Fieldset({ legend, hint, children }: FieldsetProps) {
  return (
    <fieldset className={styles.fieldset}>
      <legend className={styles.legend}>{legend}</legend>
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      {children}
    </fieldset>
  );
}

/** Text that stands beside fields. */
export function Note({ children }: { readonly children: ReactNode }) {
  return <p className={styles.hint}>{children}</p>;
}

/** Something that people should know before they go on: what is not there yet, what is shown once. */
export function Notice({
  tone = "plain",
  children,
}: {
  readonly tone?: "plain" | "warn";
  readonly children: ReactNode;
}) {
  return <div className={tone === "warn" ? styles.warning : styles.notice}>{children}</div>;
}
