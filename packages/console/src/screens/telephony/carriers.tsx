/** The carriers and their states. Each has a page of its own. */

import { ArrowRight, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { ButtonLink } from "../../ui/button.tsx";
import { Badge, Card, KeyValue } from "../../ui/display.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { type Carrier, type CarrierConfigs, carrierName, CARRIERS, useCarrierConfigs } from "../carriers.ts";
import { ReachableNotice } from "../reachable-notice.tsx";
import { CARRIER_NAMES } from "../vendor-names.ts";
import { allowedText, CARRIER_FIELDS, shownOf } from "./carrier-draft.ts";
import styles from "./telephony.module.css";

export function Carriers() {
  const { data, error, refetch } = useCarrierConfigs();
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <div className={styles.parts}>
      <ReachableNotice />
      <div className={styles.cards}>
        {CARRIERS.map((carrier) => (
          <OneCarrier key={carrier} carrier={carrier} config={data[carrier]} />
        ))}
        <CarrierCard
          name={CARRIER_NAMES.telephony4}
          medium="telephony4"
          badge={<Badge>Join URL</Badge>}
          action={
            <ButtonLink to="/telephony/telephony4" aria-label={`How to connect ${CARRIER_NAMES.telephony4}`}>
              <ArrowRight aria-hidden="true" /> How to connect
            </ButtonLink>
          }
        >
          <p>Your program creates each call and gives its join URL to the flow at Exotel.</p>
        </CarrierCard>
      </div>
    </div>
  );
}

interface OneCarrierProps {
  readonly carrier: Carrier;
  readonly config: CarrierConfigs[Carrier];
}

function OneCarrier({ carrier, config }: OneCarrierProps) {
  const name = carrierName(carrier);
  const isNew = config === undefined;
  return (
    <CarrierCard
      name={name}
      medium={carrier}
      badge={<Badge tone={isNew ? "plain" : "good"}>{isNew ? "Not set up" : "Set up"}</Badge>}
      action={
        <ButtonLink to={`/telephony/${carrier}`} aria-label={`${isNew ? "Set up" : "Open"} ${name}`}>
          {isNew ? <Plus aria-hidden="true" /> : <ArrowRight aria-hidden="true" />}
          {isNew ? "Set up" : "Open"}
        </ButtonLink>
      }
    >
      {!isNew && (
        <KeyValue
          rows={[
            ...CARRIER_FIELDS[carrier].map(
              (field) => [field.label, <code key={field.name}>{shownOf(config, field)}</code>] as const,
            ),
            ["Incoming calls", allowedText(config)],
          ]}
        />
      )}
    </CarrierCard>
  );
}

interface CarrierCardProps {
  readonly name: string;
  readonly medium: string;
  readonly badge: ReactNode;
  readonly action: ReactNode;
  readonly children: ReactNode;
}

function CarrierCard({ name, medium, badge, action, children }: CarrierCardProps) {
  return (
    <Card
      title={
        <>
          {name} {badge}
        </>
      }
      text={<code>{medium}</code>}
    >
      {children}
      <div>{action}</div>
    </Card>
  );
}
