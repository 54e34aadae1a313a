/** Asks the carrier whether the stored configuration works, and shows each problem. */

import type { TelephonyCheck } from "@parley/schema";
import { useChange } from "../../data/api.tsx";
import { Card } from "../../ui/display.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { type Carrier, carrierName } from "../carriers.ts";
import { ScopedButton } from "../scoped-buttons.tsx";
import { labelOfField } from "./carrier-draft.ts";
import { FindingsList } from "./findings-list.tsx";
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
        {check.data !== undefined && (
          <FindingsList
            {...check.data}
            good="No problems found."
            fair="The credentials work. Some calls may fail:"
            labelOf={(field) => labelOfField(carrier, field)}
          />
        )}
      </div>
      {check.error !== null && <ErrorState error={check.error} retry={() => check.mutate(null)} />}
    </Card>
  );
}
