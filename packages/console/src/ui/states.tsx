/** What stands where content is not there: nothing yet, on its way, failed. */

import { ParleyError } from "@parley/client/rest";
import { CircleAlert, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { faultsOf, type FieldFault } from "./field-errors.tsx";
import styles from "./states.module.css";

export interface EmptyProps {
  readonly icon?: ReactNode;
  readonly title: string;
  /** What would be here, and how it comes here. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function Empty({ icon, title, children, actions }: EmptyProps) {
  return (
    <div className={styles.empty}>
      {icon}
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  );
}

/** Grey lines in place of text that is on its way. */
export function Loading({
  lines = 4,
  label = "Loading",
}: {
  readonly lines?: number;
  readonly label?: string;
}) {
  return (
    <div className={styles.skeleton} role="status">
      <span className={styles.hidden}>{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={styles.bone} aria-hidden="true" />
      ))}
    </div>
  );
}

/** Read aloud, not seen. */
export function VisuallyHidden({ children }: { readonly children: ReactNode }) {
  return <span className={styles.hidden}>{children}</span>;
}

interface Failure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
}

function failureOf(error: unknown): Failure {
  if (error instanceof ParleyError) {
    const { title, detail, requestId } = error.problem;
    return { title, detail, requestId: requestId === "" ? null : requestId };
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { title: "No answer in time", detail: "The service took too long to answer.", requestId: null };
  }
  if (error instanceof TypeError) {
    return {
      title: "The service cannot be reached",
      detail: "Nothing answered. It may be restarting, or the connection is gone.",
      requestId: null,
    };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: "Something went wrong", detail, requestId: null };
}

export interface ErrorStateProps {
  readonly error: unknown;
  readonly retry?: () => void;
  /** Faults to list; those that fields show themselves need not be here. Default: all. */
  readonly faults?: readonly FieldFault[];
}

/** The service's own words, and the request's id for whoever looks into its log. */
export function ErrorState({ error, retry, faults = faultsOf(error) }: ErrorStateProps) {
  const { title, detail, requestId } = failureOf(error);
  return (
    <div className={styles.failure} role="alert">
      <div className={styles.failureTitle}>
        <CircleAlert aria-hidden="true" />
        {title}
      </div>
      {faultsOf(error).length === 0 && <div>{detail}</div>}
      {faults.length > 0 && (
        <ul className={styles.faults}>
          {faults.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              {field !== "" && <code>{field}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {(requestId !== null || retry !== undefined) && (
        <div className={styles.failureFoot}>
          {retry !== undefined && (
            <Button small onClick={retry}>
              <RotateCw aria-hidden="true" /> Try again
            </Button>
          )}
          {requestId !== null && (
            <span>
              Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request's id" />
            </span>
          )}
        </div>
      )}
    </div>
  );
}
