/** Small parts of many screens: times, progress, code, checkboxes. */

import { type ReactNode, useId } from "react";
import { FieldMessage } from "./field.tsx";
import { useFieldError } from "./field-errors.tsx";
import styles from "./form.module.css";

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const EXACT_MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function momentText(at: string): string {
  return MOMENT.format(new Date(at));
}

export interface WhenProps {
  readonly at: string | null;
  readonly none?: string;
  /** Shows seconds, for entries within the same minute. */
  readonly seconds?: boolean;
}

/** A time in local time, with the exact time on hover. */
export function When({ at, none = "Never", seconds = false }: WhenProps) {
  if (at === null) return <span>{none}</span>;
  return (
    <time dateTime={at} title={at}>
      {seconds ? EXACT_MOMENT.format(new Date(at)) : momentText(at)}
    </time>
  );
}

export interface ProgressProps {
  readonly label: string;
  readonly done: number;
  readonly total: number;
  /** How many of `done` failed; shown in the colour of failure. */
  readonly failed?: number;
  /** Replaces the two numbers. */
  readonly text?: string;
}

export function Progress({ label, done, total, failed = 0, text }: ProgressProps) {
  const percent = total === 0 ? 0 : Math.floor((done / total) * 100);
  return (
    <div className={styles.barRow}>
      <div className={styles.barBox}>
        <progress className={styles.bar} aria-label={label} value={done} max={Math.max(total, 1)} />
        {failed > 0 && <FailedShare from={done - failed} to={done} total={total} />}
      </div>
      <span className={styles.barText}>
        {text ?? `${done.toLocaleString()} of ${total.toLocaleString()} (${String(percent)}%)`}
        {failed > 0 && <span className={styles.failedText}>, {failed.toLocaleString()} failed</span>}
      </span>
    </div>
  );
}

interface ShareProps {
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

function FailedShare({ from, to, total }: ShareProps) {
  const percent = (part: number) => `${((part / Math.max(total, 1)) * 100).toFixed(2)}%`;
  return <span className={styles.failedShare} style={{ left: percent(from), width: percent(to - from) }} />;
}

/** Preformatted text, which can be scrolled by keyboard. */
export function CodeBlock({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <pre className={styles.code} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}

export function Inline({ children }: { readonly children: ReactNode }) {
  return <div className={styles.inline}>{children}</div>;
}

export interface ChecksProps<Value extends string> {
  readonly legend: string;
  readonly hint?: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly chosen: readonly Value[];
  readonly onChange: (chosen: readonly Value[]) => void;
  readonly path?: string;
}

/** A group of checkboxes. */
export function Checks<Value extends string>(props: ChecksProps<Value>) {
  const { legend, hint, choices, chosen, onChange, path } = props;
  const message = useFieldError(path);
  const errorId = useId();
  const toggle = (value: Value, on: boolean) =>
    onChange(
      choices.map((choice) => choice.value).filter((each) => (each === value ? on : chosen.includes(each))),
    );
  return (
    <fieldset
      className={styles.fieldset}
      {...(message === null ? {} : { "aria-describedby": errorId, "aria-invalid": true })}
    >
      <legend className={styles.legend}>{legend}</legend>
      <div className={styles.checks}>
        {choices.map(({ value, label }) => (
          <label key={value} className={styles.check}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={(event) => toggle(value, event.target.checked)}
            />
            {label}
          </label>
        ))}
      </div>
      {message !== null && <FieldMessage id={errorId} message={message} />}
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
    </fieldset>
  );
}
