/** The telephone side of a call: carrier, numbers, and the progress of a dialled call. */

import { ParleyError } from "@parley/client/rest";
import type { Call } from "@parley/schema";
import { PhoneOff } from "lucide-react";
import { useChange, useRead } from "../../../data/api.tsx";
import { Badge, Card, KeyValue } from "../../../ui/display.tsx";
import { When } from "../../../ui/parts.tsx";
import { ErrorState, Loading } from "../../../ui/states.tsx";
import { ScopedButton } from "../../scoped-buttons.tsx";
import { dialSummary } from "./dial-steps.ts";
import { directionText, type PhoneFacts, phoneFactsOf } from "./phone-facts.ts";
import styles from "./phone.module.css";

const DIAL_PATH = "/api/calls/{call_id}/dial";
const RUNNING_MS = 1_000;
/** The carrier reports the end some seconds after it. */
const LATE_MS = 60_000;
/** The service keeps what carriers reported for two days. */
const KEPT_MS = 48 * 3_600_000;

export function PhoneCard({ call }: { readonly call: Call }) {
  const facts = phoneFactsOf(call);
  if (facts === null) return null;
  const { carrier, from, to, carrierCallId } = facts;
  return (
    <Card title="Phone call">
      <KeyValue
        rows={[
          ["Carrier", carrier],
          ["Direction", directionText(facts)],
          ["From", from],
          ["To", to],
          ["End at the other side", sipEndOf(call)],
          ["Billed SIP time", call.sipDetails?.billedDuration ?? null],
          ["ID at the carrier", carrierCallId === null ? null : <code key="id">{carrierCallId}</code>],
        ]}
      />
      {isKept(call, facts) && <DialProgress call={call} carrier={carrier} />}
    </Card>
  );
}

/** `SIP_TERMINATION_BUSY` as words. */
function sipEndOf({ sipDetails }: Call): string | null {
  const reason = sipDetails?.terminationReason ?? null;
  return reason === null ? null : reason.replace("SIP_TERMINATION_", "").replaceAll("_", " ").toLowerCase();
}

/** SIP calls and calls of other directions have no record of a dial. */
function isKept({ created, medium }: Call, { direction }: PhoneFacts): boolean {
  return direction === "outgoing" && !("sip" in medium) && Date.now() - Date.parse(created) < KEPT_MS;
}

export interface DialProgressProps {
  readonly call: Call;
  readonly carrier: string;
}

export function DialProgress({ call, carrier }: DialProgressProps) {
  const { callId, ended } = call;
  const { data, error, refetch } = useRead(
    DIAL_PATH,
    { params: { call_id: callId } },
    {
      everyMs: (dial) => {
        if (dial !== undefined && dial.result !== null) return null;
        const isOver = ended !== null && Date.now() - Date.parse(ended) > LATE_MS;
        return isOver ? null : RUNNING_MS;
      },
    },
  );
  if (data === undefined) {
    if (error === null) return <Loading lines={3} />;
    if (error instanceof ParleyError && error.status === 404) return null;
    return <ErrorState error={error} retry={() => void refetch()} />;
  }
  const { steps, text, tone, isRunning } = dialSummary(call, data, carrier);
  return (
    <div className={styles.progress}>
      <p role="status" className={styles.now}>
        <Badge tone={tone}>{isRunning ? "Calling" : tone === "good" ? "Ended" : "Not connected"}</Badge>{" "}
        {text}
      </p>
      <ol className={styles.steps} aria-label="Progress of the call">
        {steps.map(({ label, at }) => (
          <li key={label}>
            <span>{label}</span>
            {at !== null && (
              <span className={styles.at}>
                <When at={at} seconds />
              </span>
            )}
          </li>
        ))}
      </ol>
      {isRunning && call.joined === null && <StopDialling callId={callId} />}
      {data.carrierCallId !== null && (
        <p className={styles.at}>
          ID at the carrier: <code>{data.carrierCallId}</code>
        </p>
      )}
    </div>
  );
}

function StopDialling({ callId }: { readonly callId: string }) {
  const stop = useChange<null, unknown>(
    (api) => api.fetch("DELETE", DIAL_PATH, { params: { call_id: callId } }),
    ["/api/calls"],
  );
  return (
    <>
      <div>
        <ScopedButton needs="calls" kind="danger" busy={stop.isPending} onClick={() => stop.mutate(null)}>
          <PhoneOff aria-hidden="true" /> Stop calling
        </ScopedButton>
      </div>
      {stop.error !== null && <ErrorState error={stop.error} />}
    </>
  );
}
