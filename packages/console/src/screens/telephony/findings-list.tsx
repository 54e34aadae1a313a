/** What a check has found wrong, each with its severity. */

import type { TelephonyFinding } from "@parley/schema";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import styles from "./telephony.module.css";

export interface FindingsListProps {
  readonly ok: boolean;
  readonly findings: readonly TelephonyFinding[];
  /** Without findings. */
  readonly good: string;
  /** With warnings alone. */
  readonly fair: string;
  readonly labelOf: (field: string) => string;
}

export function FindingsList({ ok, findings, good, fair, labelOf }: FindingsListProps) {
  const passed = findings.length === 0 ? good : fair;
  const Passed = findings.length === 0 ? CircleCheck : TriangleAlert;
  const Verdict = ok ? Passed : CircleAlert;
  return (
    <>
      <p className={styles.verdict}>
        <Verdict aria-hidden="true" />
        {ok ? passed : "Calls fail until these problems are solved:"}
      </p>
      {findings.length > 0 && (
        <ul className={styles.findings} aria-label="Problems">
          {findings.map(({ severity, field, message }) => (
            <li key={`${field ?? ""} ${message}`} className={severity === "error" ? styles.bad : styles.warn}>
              {severity === "error" ? (
                <CircleAlert aria-hidden="true" />
              ) : (
                <TriangleAlert aria-hidden="true" />
              )}
              <div>
                <strong>{severity === "error" ? "Error" : "Warning"}</strong>
                {field !== null && <> · {labelOf(field)}</>}
                <p>{message}</p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
