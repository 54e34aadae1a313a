/** Empty, loading and error states. */

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
  /** What will appear here, and how to create it. */
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

/** Grey placeholder lines for loading text. */
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

/** For screen readers only. */
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
    const { title, detail, code, requestId } = error.problem;
    if (code === "missing_scope") {
      return {
        title: "Your API key does not allow this",
        detail: `${detail} Sign in with another key.`,
        requestId,
      };
    }
    return { title, detail, requestId: requestId === "" ? null : requestId };
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { title: "Request timed out", detail: "The service took too long to respond.", requestId: null };
  }
  if (error instanceof TypeError) {
    return {
      title: "The service cannot be reached",
      detail: "The service may be restarting, or the network connection is down.",
      requestId: null,
    };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: "Something went wrong", detail, requestId: null };
}

export interface ErrorStateProps {
  readonly error: unknown;
  readonly retry?: () => void;
  /** Errors to list, without those that fields show. Default: all. */
  readonly faults?: readonly FieldFault[];
}

/** The service's message, and the request id to find it in the log. */
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
              Request ID <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" />
            </span>
          )}
        </div>
      )}
    </div>
  );
}
