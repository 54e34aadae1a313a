/** One carrier: what to do there, its credentials, a check, and the URLs for incoming calls. */

import { PhoneOutgoing, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { useChange } from "../../data/api.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Badge, Card, Page, PageHeader } from "../../ui/display.tsx";
import { Inline } from "../../ui/parts.tsx";
import { Empty, ErrorState, Loading } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import {
  type Carrier,
  type CarrierConfigs,
  carrierName,
  CONFIGS_PATH,
  isCarrier,
  useCarrierConfigs,
} from "../carriers.ts";
import { ReachableNotice } from "../reachable-notice.tsx";
import { ScopedButton, ScopedLink } from "../scoped-buttons.tsx";
import { CallUrls } from "./call-urls.tsx";
import { CarrierCheck } from "./carrier-check.tsx";
import { CarrierForm } from "./carrier-form.tsx";
import { GUIDES } from "./carrier-guide.ts";
import { JoinUrlCarrier } from "./join-url-carrier.tsx";
import styles from "./telephony.module.css";

const BACK = { to: "/telephony", label: "Telephony" };

export function CarrierScreen() {
  const { carrier = "" } = useParams();
  if (carrier === "telephony4") return <JoinUrlCarrier back={BACK} />;
  if (isCarrier(carrier)) return <CarrierPage key={carrier} carrier={carrier} />;
  return (
    <Page>
      <PageHeader title="Telephony" back={BACK} />
      <Empty title="This carrier does not exist" actions={<ButtonLink to="/telephony">Telephony</ButtonLink>}>
        The service knows Twilio, Telnyx, Plivo and Exotel.
      </Empty>
    </Page>
  );
}

interface CarrierProps {
  readonly carrier: Carrier;
}

function CarrierPage({ carrier }: CarrierProps) {
  const { data, error, refetch } = useCarrierConfigs();
  const [removing, setRemoving] = useState(false);
  const config = data?.[carrier];
  const name = carrierName(carrier);
  return (
    <Page>
      <PageHeader
        title={name}
        back={BACK}
        lead={`Calls through your account at ${name}, in both directions.`}
        actions={
          config !== undefined && (
            <ScopedButton
              needs="admin"
              kind="danger"
              aria-label={`Remove ${name}`}
              onClick={() => setRemoving(true)}
            >
              <Trash2 aria-hidden="true" /> Remove
            </ScopedButton>
          )
        }
      />
      {data === undefined && error === null && <Loading lines={8} />}
      {data === undefined && error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data !== undefined && <Parts carrier={carrier} config={config} />}
      <RemoveCarrier carrier={carrier} open={removing} onClose={() => setRemoving(false)} />
    </Page>
  );
}

interface PartsProps extends CarrierProps {
  readonly config: CarrierConfigs[Carrier];
}

function Parts({ carrier, config }: PartsProps) {
  const name = carrierName(carrier);
  const { site, first, incoming } = GUIDES[carrier];
  const isNew = config === undefined;
  return (
    <div className={styles.page}>
      <ReachableNotice />
      <Card title={`Prepare your account at ${name}`} text={`At ${site}.`}>
        <Steps label={`Steps at ${name}`} steps={first} />
      </Card>
      <Card
        title={
          <>
            Configuration <Badge tone={isNew ? "plain" : "good"}>{isNew ? "Not set up" : "Set up"}</Badge>
          </>
        }
        text="Secrets are stored encrypted and not shown again."
      >
        <CarrierForm key={isNew ? "new" : "stored"} carrier={carrier} config={config} />
      </Card>
      {!isNew && <CarrierCheck carrier={carrier} />}
      <Card
        title="Incoming calls"
        text={`So that ${name} asks this service who answers. The agent must be allowed in the configuration.`}
      >
        <CallUrls />
        <Steps label={`Steps for incoming calls at ${name}`} steps={incoming} />
        <p>
          Then choose the agent of each number under <Link to="/telephony?view=numbers">Numbers</Link>. A URL
          for one agent needs no entry there.
        </p>
      </Card>
      {!isNew && (
        <Card
          title="Outgoing calls"
          text="Calls from the console, the API and batches. The dialling rules limit numbers, calls and minutes."
        >
          <Inline>
            <ScopedLink needs="calls" to="/calls/new">
              <PhoneOutgoing aria-hidden="true" /> Place a call
            </ScopedLink>
            <ButtonLink to="/telephony?view=rules">Dialling rules</ButtonLink>
          </Inline>
        </Card>
      )}
    </div>
  );
}

function Steps({ label, steps }: { readonly label: string; readonly steps: readonly string[] }) {
  return (
    <ol className={styles.steps} aria-label={label}>
      {steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  );
}

interface RemoveProps extends CarrierProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

function RemoveCarrier({ carrier, open, onClose }: RemoveProps) {
  const toast = useToast();
  const go = useNavigate();
  const name = carrierName(carrier);
  const remove = useChange<null, unknown>(
    (api) => api.fetch("DELETE", "/api/telephony_configs/{carrier}", { params: { carrier } }),
    [CONFIGS_PATH],
  );
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Remove ${name}?`}
      text={`This also deletes the stored secrets. Calls through ${name} fail from now on. You cannot undo this.`}
      action="Remove carrier"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(null);
        toast(`${name} removed.`);
        await go("/telephony");
      }}
    />
  );
}
