/** SIP registrations: the service registers as an extension of a phone system. */

import type { SipRegistration, SipRegistrationWrite } from "@parley/schema";
import { Pencil, PhoneForwarded, Plus, Stethoscope, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Badge } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Columns, Form } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { RegistrationCheck } from "./sip-check.tsx";
import styles from "./telephony.module.css";

const PATH = "/api/sip/registrations";

/** States change within seconds after a registration was made, and at each refresh. */
const STATES_MS = 5_000;

function StateOf({ registration }: { readonly registration: SipRegistration }) {
  const { successful, lastStatus, lastReason, nextAttempt } = registration;
  if (successful === null) return <Badge>pending</Badge>;
  return (
    <div className={styles.state}>
      {successful ? <Badge tone="good">registered</Badge> : <Badge tone="bad">failed</Badge>}
      {lastStatus !== null && (
        <span className={styles.said}>{`${String(lastStatus)} ${lastReason ?? ""}`.trim()}</span>
      )}
      {nextAttempt !== null && (
        <span className={styles.said}>
          {successful ? "Refreshed" : "Next attempt"}: <When at={nextAttempt} seconds />
        </span>
      )}
    </div>
  );
}

function columnsWith(
  onEdit: (registration: SipRegistration) => void,
  onDelete: (registration: SipRegistration) => void,
  onCheck: (registration: SipRegistration) => void,
): readonly Column<SipRegistration>[] {
  return [
    { id: "user", label: "Username", cell: ({ username }) => <strong>{username}</strong> },
    { id: "proxy", label: "Registrar", cell: ({ proxy }) => <code>{proxy}</code> },
    { id: "state", label: "State", cell: (registration) => <StateOf registration={registration} /> },
    { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: (registration) => (
        <>
          <IconButton
            label={`Check ${registration.username}`}
            icon={<Stethoscope aria-hidden="true" />}
            small
            onClick={() => onCheck(registration)}
          />
          <IconButton
            label={`Edit ${registration.username}`}
            icon={<Pencil aria-hidden="true" />}
            small
            onClick={() => onEdit(registration)}
          />
          <IconButton
            label={`Delete ${registration.username}`}
            icon={<Trash2 aria-hidden="true" />}
            small
            onClick={() => onDelete(registration)}
          />
        </>
      ),
    },
  ];
}

export function Registrations() {
  const pages = usePages(PATH, {}, { everyMs: () => STATES_MS });
  const [checked, setChecked] = useState<SipRegistration | null>(null);
  const [edited, setEdited] = useState<SipRegistration | "new" | null>(null);
  const [doomed, setDoomed] = useState<SipRegistration | null>(null);
  const toast = useToast();
  const remove = useChange(
    (api, id: string) =>
      api.fetch("DELETE", `${PATH}/{registration_id}`, { params: { registration_id: id } }),
    [PATH],
  );
  const create = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setEdited("new")}>
      <Plus aria-hidden="true" /> New registration
    </ScopedButton>
  );
  return (
    <div className={styles.parts}>
      {(pages.rows?.length ?? 0) > 0 && <div className={styles.end}>{create}</div>}
      <PagedTable
        label="Registrations"
        pages={pages}
        columns={columnsWith(setEdited, setDoomed, setChecked)}
        keyOf={({ registrationId }) => registrationId}
        empty={
          <Empty icon={<PhoneForwarded aria-hidden="true" />} title="No registrations yet" actions={create}>
            Register as an extension of your phone system to receive its calls.
          </Empty>
        }
      />
      <Dialog
        open={edited !== null}
        onClose={() => setEdited(null)}
        title={edited === "new" ? "New registration" : "Edit registration"}
        text="The password is stored encrypted and not shown again."
      >
        <RegistrationForm registration={edited === "new" ? null : edited} onDone={() => setEdited(null)} />
      </Dialog>
      <RegistrationCheck registration={checked} onClose={() => setChecked(null)} />
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        title={`Delete ${doomed?.username ?? ""}?`}
        text="Agents no longer receive calls at this address. You cannot undo this."
        action="Delete registration"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(doomed?.registrationId ?? "");
          toast("Registration deleted.");
        }}
      />
    </div>
  );
}

interface RegistrationDraft {
  readonly username: string;
  /** Leave empty to keep the current password. */
  readonly password: string;
  readonly proxy: string;
  readonly outboundProxy: string;
  readonly authUser: string;
}

interface RegistrationFormProps {
  readonly registration: SipRegistration | null;
  readonly onDone: () => void;
}

function useSave(registration: SipRegistration | null) {
  return useChange<RegistrationDraft, unknown>(
    (api, { password, outboundProxy, authUser, ...rest }) => {
      if (registration === null) {
        const body: SipRegistrationWrite = {
          ...rest,
          password,
          ...(outboundProxy === "" ? {} : { outboundProxy }),
          ...(authUser === "" ? {} : { authUser }),
        };
        return api.fetch("POST", PATH, { body });
      }
      return api.fetch("PATCH", `${PATH}/{registration_id}`, {
        params: { registration_id: registration.registrationId },
        body: {
          ...rest,
          ...(password === "" ? {} : { password }),
          outboundProxy: outboundProxy === "" ? null : outboundProxy,
          authUser: authUser === "" ? null : authUser,
        },
      });
    },
    [PATH],
  );
}

function RegistrationForm({ registration, onDone }: RegistrationFormProps) {
  const [draft, setDraft] = useState<RegistrationDraft>({
    username: registration?.username ?? "",
    password: "",
    proxy: registration?.proxy ?? "",
    outboundProxy: registration?.outboundProxy ?? "",
    authUser: registration?.authUser ?? "",
  });
  const isNew = registration === null;
  const toast = useToast();
  const save = useSave(registration);
  const needed = ["username", "proxy", ...(isNew ? ["password"] : [])] as const;
  const text = (name: keyof RegistrationDraft, type = "text") => (
    <TextInput
      type={type}
      autoComplete={type === "password" ? "new-password" : "off"}
      spellCheck={false}
      value={draft[name]}
      onChange={(event) => setDraft((before) => ({ ...before, [name]: event.target.value }))}
    />
  );
  return (
    <Form
      label="Registration"
      action="Save registration"
      onCancel={onDone}
      check={() =>
        needed
          .filter((name) => draft[name as keyof RegistrationDraft] === "")
          .map((field) => ({ field, message: "is required" }))
      }
      onSave={async () => {
        await save.mutateAsync(draft);
        toast("Registration saved.");
        onDone();
      }}
    >
      <Columns>
        <Field label="Username" path="username" hint="For example, the number of the extension.">
          {text("username")}
        </Field>
        <Field
          label="Password"
          path="password"
          hint={isNew ? undefined : "Empty: keep the current password."}
        >
          {text("password", "password")}
        </Field>
        <Field label="Registrar" path="proxy" hint="For example, sip.carrier.example:5060.">
          {text("proxy")}
        </Field>
        <Field label="Outbound proxy" aside="optional" path="outboundProxy">
          {text("outboundProxy")}
        </Field>
        <Field
          label="Authentication username"
          aside="optional"
          path="authUser"
          hint="Leave empty to use the username."
        >
          {text("authUser")}
        </Field>
      </Columns>
    </Form>
  );
}
