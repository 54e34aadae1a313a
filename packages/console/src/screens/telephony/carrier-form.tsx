/** The credentials of an account at a carrier, and which agents it may call. */

import type { InputOf } from "@parley/client/rest";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { useHasScope } from "../../data/scopes.ts";
import { Switch } from "../../ui/field.tsx";
import { Fieldset, Form } from "../../ui/form.tsx";
import { PairsEditor, RowsEditor } from "../../ui/rows-editor.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AgentField } from "../agent-field.tsx";
import { type Carrier, carrierName, CONFIGS_PATH } from "../carriers.ts";
import {
  bodyOf,
  type CarrierDraft,
  CARRIER_FIELDS,
  carrierFaults,
  type CarrierField,
  draftOf,
  type ShownConfig,
  shownOf,
  withoutSecrets,
} from "./carrier-draft.ts";

const ONE = "/api/telephony_configs/{carrier}";
const MAX_AGENTS = 100;

export interface CarrierFormProps {
  readonly carrier: Carrier;
  readonly config: ShownConfig | undefined;
}

export function CarrierForm({ carrier, config }: CarrierFormProps) {
  const [draft, setDraft] = useState(() => draftOf(carrier, config));
  const set = (changes: Partial<CarrierDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const toast = useToast();
  const may = useHasScope("admin");
  const isNew = config === undefined;
  const params = { carrier };
  const save = useChange<Record<string, unknown>, unknown>(
    (api, body) =>
      isNew
        ? // The fields depend on the carrier, which the type of the path cannot express.
          api.fetch("POST", ONE, { params, body } as unknown as InputOf<"POST", typeof ONE>)
        : api.fetch("PATCH", ONE, { params, body }),
    [CONFIGS_PATH],
  );
  return (
    <Form
      label={carrierName(carrier)}
      action="Save carrier"
      disabled={!may}
      check={() => carrierFaults(carrier, draft, isNew)}
      onSave={async () => {
        await save.mutateAsync(bodyOf(carrier, draft));
        setDraft((before) => withoutSecrets(carrier, before));
        toast(`${carrierName(carrier)} saved.`);
      }}
    >
      {CARRIER_FIELDS[carrier].map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          path={field.name}
          hint={hintOf(field, config)}
          type={field.secret ? "password" : "text"}
          autoComplete="off"
          spellCheck={false}
          value={draft.fields[field.name] ?? ""}
          onChange={(text) => set({ fields: { ...draft.fields, [field.name]: text } })}
        />
      ))}
      <PermissionFields draft={draft} set={set} />
    </Form>
  );
}

function hintOf(field: CarrierField, config: ShownConfig | undefined): string {
  if (!field.secret || config === undefined) return field.hint;
  return `${field.hint} Stored: ${shownOf(config, field)} Leave empty to keep it.`;
}

interface PermissionProps {
  readonly draft: CarrierDraft;
  readonly set: (changes: Partial<CarrierDraft>) => void;
}

function PermissionFields({ draft, set }: PermissionProps) {
  return (
    <>
      <Switch
        label="Allow incoming calls to all agents"
        path="callCreationAllowAllAgents"
        checked={draft.allowAll}
        onChange={(allowAll) => set({ allowAll })}
      />
      {!draft.allowAll && (
        <Fieldset legend="Agents that may be called" hint="Outgoing calls need no entry here.">
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
                placeholder="Choose an agent"
                value={agentId}
                onChange={change}
              />
            )}
          </RowsEditor>
        </Fieldset>
      )}
      <Fieldset
        legend="Variables from the carrier’s request"
        hint="Copies fields of the request, such as From, to variables, such as user.phone."
      >
        <PairsEditor
          noun="field"
          nameLabel="Request field"
          valueLabel="Variable"
          path="requestContextMapping"
          faultAt="value"
          pairs={draft.mapping}
          onChange={(mapping) => set({ mapping })}
        />
      </Fieldset>
    </>
  );
}
