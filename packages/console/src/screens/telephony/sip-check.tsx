/** Checks of SIP: the configuration, a trunk, and a registration. */

import type { SipCheck, SipRegistration } from "@parley/schema";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { Card } from "../../ui/display.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { FindingsList } from "./findings-list.tsx";
import styles from "./telephony.module.css";

const FIELD_LABELS: Readonly<Record<string, string>> = {
  to: "Trunk",
  allowedCidrRanges: "Allowed sources",
  allowedAgents: "Allowed agents",
  domain: "SIP address of agents",
  username: "Username",
  password: "Password",
  proxy: "Registrar",
  outboundProxy: "Outbound proxy",
};

export function SipCheckCard() {
  const [to, setTo] = useState("");
  const [checked, setChecked] = useState<{ readonly to: string; readonly found: SipCheck } | null>(null);
  const check = useChange<string, SipCheck>(
    (api, wanted) => api.fetch("POST", "/api/sip/check", { body: wanted === "" ? {} : { to: wanted } }),
    [],
  );
  return (
    <Card
      title="Check"
      text="Looks for settings that prevent calls, and asks a trunk with an OPTIONS request whether it can be reached."
    >
      <Form
        label="SIP check"
        action="Check SIP"
        onSave={async () => {
          const wanted = to.trim();
          setChecked(null);
          setChecked({ to: wanted, found: await check.mutateAsync(wanted) });
        }}
      >
        <TextField
          label="Trunk"
          aside="optional"
          path="to"
          spellCheck={false}
          maxLength={200}
          placeholder="sip:trunk.example;transport=tcp"
          hint="The host or SIP address that calls are sent to."
          value={to}
          onChange={setTo}
        />
      </Form>
      <div role="status" className={styles.parts}>
        {checked !== null && <Found found={checked.found} />}
      </div>
    </Card>
  );
}

/** Asks the registrar of one registration as soon as it is open. */
export function RegistrationCheck({
  registration,
  onClose,
}: {
  readonly registration: SipRegistration | null;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open={registration !== null}
      onClose={onClose}
      title={`Check ${registration?.username ?? ""}`}
      text="Asks the registrar with the stored password. Nothing is registered or changed by it."
    >
      {registration !== null && <AskRegistrar id={registration.registrationId} />}
    </Dialog>
  );
}

function AskRegistrar({ id }: { readonly id: string }) {
  const check = useChange<null, SipCheck>(
    (api) =>
      api.fetch("POST", "/api/sip/registrations/{registration_id}/check", {
        params: { registration_id: id },
      }),
    [],
  );
  return (
    <div className={styles.parts}>
      <div>
        <ScopedButton needs="calls" kind="primary" busy={check.isPending} onClick={() => check.mutate(null)}>
          Ask the registrar
        </ScopedButton>
      </div>
      <div role="status" className={styles.parts}>
        {check.isPending && <Loading lines={2} />}
        {check.data !== undefined && !check.isPending && <Found found={check.data} />}
      </div>
      {check.error !== null && <ErrorState error={check.error} retry={() => check.mutate(null)} />}
    </div>
  );
}

function Found({ found: { ok, findings, answers } }: { readonly found: SipCheck }) {
  return (
    <>
      <FindingsList
        ok={ok}
        findings={findings}
        good="No problems found."
        fair="Some calls may fail:"
        labelOf={(field) => FIELD_LABELS[field] ?? field}
      />
      {answers.length > 0 && (
        <ul className={styles.answers} aria-label="Answers">
          {answers.map(({ request, transport, address, status, reason, realm, software }) => (
            <li key={`${request} ${transport} ${address}`}>
              {request}: <strong>{`${String(status)} ${reason}`}</strong> from <code>{address}</code> over{" "}
              {transport.toUpperCase()}
              {software !== null && <>, {software}</>}
              {realm !== null && <>, realm “{realm}”</>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
