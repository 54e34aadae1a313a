/** Asks the carrier whether the stored configuration works, and shows each problem. */

import type { TelephonyCheck } from "@parley/schema";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { useChange } from "../../data/api.tsx";
import { Card } from "../../ui/display.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { type Carrier, carrierName } from "../carriers.ts";
import { ScopedButton } from "../scoped-buttons.tsx";
import { labelOfField } from "./carrier-draft.ts";
import styles from "./telephony.module.css";

export function CarrierCheck({ carrier }: { readonly carrier: Carrier }) {
  const name = carrierName(carrier);
  const check = useChange<null, TelephonyCheck>(
    (api) => api.fetch("POST", "/api/telephony_configs/{carrier}/check", { params: { carrier } }),
    [],
  );
  return (
    <Card
      title="Check"
      text={`Asks ${name} whether the credentials work, and looks for settings that prevent calls.`}
      actions={
        <ScopedButton
          needs="calls"
          busy={check.isPending}
          aria-label={`Check ${name}`}
          onClick={() => check.mutate(null)}
        >
          Check
        </ScopedButton>
      }
    >
      <div role="status" className={styles.parts}>
        {check.data !== undefined && <Findings carrier={carrier} found={check.data} />}
      </div>
      {check.error !== null && <ErrorState error={check.error} retry={() => check.mutate(null)} />}
    </Card>
  );
}

interface FindingsProps {
  readonly carrier: Carrier;
  readonly found: TelephonyCheck;
}

function Findings({ carrier, found: { ok, findings } }: FindingsProps) {
  const good = findings.length === 0 ? "No problems found." : "The credentials work. Some calls may fail:";
  return (
    <>
      <p className={styles.verdict}>
        {ok ? <CircleCheck aria-hidden="true" /> : <CircleAlert aria-hidden="true" />}
        {ok ? good : "Calls fail until these problems are solved:"}
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
                {field !== null && <> · {labelOfField(carrier, field)}</>}
                <p>{message}</p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
