/** The settings of telephony carriers. */

import type { InputOf } from "@parley/client/rest";
import { Plus, Settings2, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange, useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, Card, KeyValue } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Switch } from "../../ui/field.tsx";
import { Fieldset, Form } from "../../ui/form.tsx";
import { Inline } from "../../ui/parts.tsx";
import { PairsEditor, RowsEditor } from "../../ui/rows-editor.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AgentField } from "../agent-field.tsx";
import {
  bodyOf,
  type Carrier,
  type CarrierDraft,
  CARRIER_FIELDS,
  carrierFaults,
  CARRIERS,
  draftOf,
  type ShownConfig,
  shownOf,
} from "./carrier-draft.ts";
import { CARRIER_NAMES } from "../vendor-names.ts";
import styles from "./telephony.module.css";

const ALL = "/api/accounts/me/telephony_config";
const ONE = "/api/telephony_configs/{carrier}";

const NAMES: Readonly<Record<Carrier, string>> = CARRIER_NAMES;

export function Carriers() {
  const { data, error, refetch } = useRead(ALL, {});
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <div className={styles.cards}>
      {CARRIERS.map((carrier) => (
        <OneCarrier key={carrier} carrier={carrier} config={data[carrier]} />
      ))}
    </div>
  );
}

interface CarrierProps {
  readonly carrier: Carrier;
  readonly config: ShownConfig | undefined;
}

function OneCarrier({ carrier, config }: CarrierProps) {
  const [asked, setAsked] = useState<"edit" | "delete" | null>(null);
  const close = () => setAsked(null);
  const name = NAMES[carrier];
  return (
    <Card
      title={
        <>
          {name}{" "}
          <Badge tone={config === undefined ? "plain" : "good"}>
            {config === undefined ? "Not set up" : "Set up"}
          </Badge>
        </>
      }
      text={<code>{carrier}</code>}
    >
      {config !== undefined && <Shown carrier={carrier} config={config} />}
      <Inline>
        <Button
          aria-label={`${config === undefined ? "Set up" : "Change"} ${name}`}
          onClick={() => setAsked("edit")}
        >
          {config === undefined ? <Plus aria-hidden="true" /> : <Settings2 aria-hidden="true" />}
          {config === undefined ? "Set up" : "Change"}
        </Button>
        {config !== undefined && (
          <Button kind="danger" aria-label={`Remove ${name}`} onClick={() => setAsked("delete")}>
            <Trash2 aria-hidden="true" /> Remove
          </Button>
        )}
      </Inline>
      <Dialog
        open={asked === "edit"}
        onClose={close}
        wide
        title={name}
        text="Secrets are stored encrypted and not shown again."
      >
        <CarrierForm carrier={carrier} config={config} onDone={close} />
      </Dialog>
      <RemoveCarrier carrier={carrier} open={asked === "delete"} onClose={close} />
    </Card>
  );
}

function Shown({ carrier, config }: { readonly carrier: Carrier; readonly config: ShownConfig }) {
  const {
    callCreationAllowAllAgents: all,
    callCreationAllowedAgentIds: some,
    requestContextMapping,
  } = config;
  return (
    <KeyValue
      rows={[
        ...CARRIER_FIELDS[carrier].map(
          (field) => [field.label, <code key={field.name}>{shownOf(config, field)}</code>] as const,
        ),
        ["Allowed agents", all ? "All agents" : some.length === 0 ? "None" : `${String(some.length)} agents`],
        ["Variables from", Object.keys(requestContextMapping).join(", ") || null],
      ]}
    />
  );
}

const MAX_AGENTS = 100;

function CarrierForm({ carrier, config, onDone }: CarrierProps & { readonly onDone: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(carrier, config));
  const set = (changes: Partial<CarrierDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const toast = useToast();
  const isNew = config === undefined;
  const params = { carrier };
  const save = useChange<Record<string, unknown>, unknown>(
    (api, body) =>
      isNew
        ? // The fields depend on the carrier, which the type of the path cannot express.
          api.fetch("POST", ONE, { params, body } as unknown as InputOf<"POST", typeof ONE>)
        : api.fetch("PATCH", ONE, { params, body }),
    [ALL],
  );
  return (
    <Form
      label={NAMES[carrier]}
      action="Save carrier"
      onCancel={onDone}
      check={() => carrierFaults(carrier, draft, isNew)}
      onSave={async () => {
        await save.mutateAsync(bodyOf(carrier, draft));
        toast(`${NAMES[carrier]} saved.`);
        onDone();
      }}
    >
      {CARRIER_FIELDS[carrier].map(({ name, label, secret }) => (
        <TextField
          key={name}
          label={label}
          path={name}
          {...(secret && !isNew ? { hint: "Leave empty to keep the current secret." } : {})}
          type={secret ? "password" : "text"}
          autoComplete="off"
          spellCheck={false}
          value={draft.fields[name] ?? ""}
          onChange={(text) => set({ fields: { ...draft.fields, [name]: text } })}
        />
      ))}
      <PermissionFields draft={draft} set={set} />
    </Form>
  );
}

interface PermissionProps {
  readonly draft: CarrierDraft;
  readonly set: (changes: Partial<CarrierDraft>) => void;
}

function PermissionFields({ draft, set }: PermissionProps) {
  return (
    <>
      <Switch
        label="Allow calls with all agents"
        path="callCreationAllowAllAgents"
        checked={draft.allowAll}
        onChange={(allowAll) => set({ allowAll })}
      />
      {!draft.allowAll && (
        <Fieldset legend="Allowed agents">
          <RowsEditor
            noun="agent"
            rows={draft.agentIds}
            max={MAX_AGENTS}
            fresh={() => ""}
            onChange={(agentIds) => set({ agentIds })}
          >
            {(agentId, change, index) => (
              <AgentField
                label={`Agent ${String(index + 1)}`}
                path={`callCreationAllowedAgentIds.${String(index)}`}
                value={agentId}
                onChange={change}
              />
            )}
          </RowsEditor>
        </Fieldset>
      )}
      <Fieldset
        legend="Variables from the carrier's request"
        hint="Copies fields of the request, such as From, to variables, such as user.phone."
      >
        <PairsEditor
          noun="field"
          nameLabel="Request field"
          valueLabel="Variable"
          path="requestContextMapping"
          pairs={draft.mapping}
          onChange={(mapping) => set({ mapping })}
        />
      </Fieldset>
    </>
  );
}

interface RemoveProps {
  readonly carrier: Carrier;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RemoveCarrier({ carrier, open, onClose }: RemoveProps) {
  const toast = useToast();
  const remove = useChange<null, unknown>((api) => api.fetch("DELETE", ONE, { params: { carrier } }), [ALL]);
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Remove ${NAMES[carrier]}?`}
      text="This also deletes the stored secrets. You cannot undo this."
      action="Remove carrier"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(null);
        toast(`${NAMES[carrier]} removed.`);
      }}
    />
  );
}
