/** Forms that send one change. Errors found here or by the service are shown at their fields. */

import { ParleyError } from "@parley/client/rest";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Button } from "./button.tsx";
import { FieldErrors, type FieldFault } from "./field-errors.tsx";
import { ErrorState } from "./states.tsx";
import styles from "./form.module.css";

export interface FormProps {
  /** The name of the form, for screen readers. */
  readonly label: string;
  /** The text of the button: a verb with its object. */
  readonly action: string;
  readonly onSave: () => Promise<unknown>;
  readonly onCancel?: (() => void) | undefined;
  /** Local validation; nothing is sent while it finds errors. */
  readonly check?: (() => readonly FieldFault[]) | undefined;
  readonly disabled?: boolean;
  /** What to say when all errors are shown at fields. */
  readonly refused?: string;
  readonly children: ReactNode;
}

const NOT_SAVED = "Not saved. Fix the highlighted fields.";

export function Form(props: FormProps) {
  const { label, action, onSave, onCancel, check, disabled = false, refused = NOT_SAVED, children } = props;
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
          {error !== null && <Summary error={error} rest={rest} refused={refused} />}
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
    // Scroll to the first invalid field, which may be far above the button.
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // For React, but not for the browser, forms in dialogs are inside the forms of their pages.
    event.stopPropagation();
    if (busy) return;
    // Without the errors of the last attempt, only errors of the fields themselves remain: invalid JSON.
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

interface SummaryProps {
  readonly error: unknown;
  readonly rest: readonly FieldFault[];
  readonly refused: string;
}

/** One line if all errors are shown at fields, otherwise the message of the service. */
function Summary({ error, rest, refused }: SummaryProps) {
  const placed = error instanceof ParleyError && (error.problem.errors ?? []).length > 0 && rest.length === 0;
  if (!placed) return <ErrorState error={error} faults={rest} />;
  return (
    <p role="alert" className={styles.refused}>
      {refused}
    </p>
  );
}

/** Local errors in the form of an error of the service. */
function refusalOf(faults: readonly FieldFault[]): ParleyError {
  return new ParleyError(
    {
      type: "about:blank",
      title: "Some fields have errors",
      status: 400,
      code: "validation_failed",
      detail: "Fix the highlighted fields.",
      requestId: "",
      errors: faults.map(({ field, message }) => ({ field, message })),
    },
    null,
  );
}

/** Fields in columns if they fit. */
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

/** Text beside fields. */
export function Note({ children }: { readonly children: ReactNode }) {
  return <p className={styles.hint}>{children}</p>;
}

/** An important note, such as a missing feature or a value that is shown once. */
export function Notice({
  tone = "plain",
  children,
}: {
  readonly tone?: "plain" | "warn";
  readonly children: ReactNode;
}) {
  return <div className={tone === "warn" ? styles.warning : styles.notice}>{children}</div>;
}
