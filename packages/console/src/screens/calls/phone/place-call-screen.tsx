/** A page that lets a carrier dial one number, and shows how far the call is. */

import { Phone, PhoneOutgoing } from "lucide-react";
import { useSearchParams } from "react-router";
import { useRead } from "../../../data/api.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Card, Page, PageHeader } from "../../../ui/display.tsx";
import { Inline } from "../../../ui/parts.tsx";
import { Empty, ErrorState, Loading } from "../../../ui/states.tsx";
import { configuredIn, useCarrierConfigs } from "../../carriers.ts";
import { ReachableNotice } from "../../reachable-notice.tsx";
import { nameOf } from "../call-words.ts";
import { DialProgress } from "./phone-card.tsx";
import { phoneFactsOf } from "./phone-facts.ts";
import { PlaceCallForm } from "./place-call-form.tsx";
import styles from "./phone.module.css";

const BACK = { to: "/calls", label: "Calls" };
const RUNNING_MS = 1_000;

export function PlaceCallScreen() {
  const [address, setAddress] = useSearchParams();
  const callId = address.get("call");
  const agentId = address.get("agent") ?? "";
  const agent = agentId === "" ? {} : { agent: agentId };
  return (
    <Page>
      <PageHeader
        title="Place a call"
        back={BACK}
        lead="A carrier dials the number and connects the agent when somebody answers."
      />
      <div className={styles.place}>
        {callId === null ? (
          <Preparation agentId={agentId} onPlaced={(call) => setAddress({ ...agent, call })} />
        ) : (
          <PlacedCall key={callId} callId={callId} onAnother={() => setAddress(agent)} />
        )}
      </div>
    </Page>
  );
}

interface PreparationProps {
  readonly agentId: string;
  readonly onPlaced: (callId: string) => void;
}

function Preparation({ agentId, onPlaced }: PreparationProps) {
  const { data, error, refetch } = useCarrierConfigs();
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  const carriers = configuredIn(data);
  if (carriers.length === 0) {
    return (
      <Empty
        icon={<Phone aria-hidden="true" />}
        title="No carrier is set up"
        actions={
          <ButtonLink kind="primary" to="/telephony">
            Set up a carrier
          </ButtonLink>
        }
      >
        The service dials through your account at Twilio, Telnyx or Plivo.
      </Empty>
    );
  }
  return (
    <>
      <ReachableNotice />
      <PlaceCallForm carriers={carriers} agentId={agentId} onPlaced={onPlaced} />
    </>
  );
}

interface PlacedCallProps {
  readonly callId: string;
  readonly onAnother: () => void;
}

function PlacedCall({ callId, onAnother }: PlacedCallProps) {
  const { data, error, refetch } = useRead(
    "/api/calls/{call_id}",
    { params: { call_id: callId } },
    { everyMs: (call) => (call === undefined || call.ended === null ? RUNNING_MS : null) },
  );
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  const facts = phoneFactsOf(data);
  const carrier = facts?.carrier ?? "The carrier";
  const from = facts?.from ?? null;
  return (
    <Card
      title={facts?.to ?? "Call"}
      text={`${nameOf(data)}, through ${carrier}${from === null ? "" : ` from ${from}`}`}
    >
      <DialProgress call={data} carrier={carrier} />
      <Inline>
        <ButtonLink kind="primary" to={`/calls/${callId}`}>
          Open the call
        </ButtonLink>
        <Button onClick={onAnother}>
          <PhoneOutgoing aria-hidden="true" /> Place another call
        </Button>
      </Inline>
    </Card>
  );
}
