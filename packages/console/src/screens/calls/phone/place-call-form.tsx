/** The form for one call: the agent, the carrier, the two numbers and the variables of the agent. */

import type { InputOf } from "@parley/client/rest";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useChange, useRead } from "../../../data/api.tsx";
import { useRequestKey } from "../../../data/request-key.ts";
import { useHasScope } from "../../../data/scopes.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { Card } from "../../../ui/display.tsx";
import { Field, FieldMessage } from "../../../ui/field.tsx";
import { useFieldError } from "../../../ui/field-errors.tsx";
import { Columns, Form, Note } from "../../../ui/form.tsx";
import { ErrorState } from "../../../ui/states.tsx";
import { SelectField, TextField } from "../../../ui/text-field.tsx";
import { AgentField } from "../../agent-field.tsx";
import { type Carrier, carrierName } from "../../carriers.ts";
import { useVariables } from "../../use-variables.ts";
import { VariableFields } from "../../variable-fields.tsx";

export interface PlaceCallFormProps {
  /** At least one. */
  readonly carriers: readonly Carrier[];
  /** Empty: none is chosen yet. */
  readonly agentId: string;
  readonly onPlaced: (callId: string) => void;
}

type Body = NonNullable<InputOf<"POST", "/api/agents/{agent_id}/calls">["body"]>;

export function PlaceCallForm({ carriers, agentId, onPlaced }: PlaceCallFormProps) {
  const [, setAddress] = useSearchParams();
  const [chosen, setCarrier] = useState<Carrier>(carriers[0] ?? "telephony1");
  const carrier = carriers.includes(chosen) ? chosen : (carriers[0] ?? chosen);
  const [to, setTo] = useState("");
  const [from, setFrom] = useState("");
  const variables = useVariables();
  const agent = useRead(
    "/api/agents/{agent_id}",
    { params: { agent_id: agentId } },
    { enabled: agentId !== "" },
  );
  const may = useHasScope("calls");
  const place = usePlaceCall(agentId);
  const at = `medium.${carrier}.outgoing`;
  const check = () => [
    ...(agentId === "" ? [{ field: "agentId", message: "is required" }] : []),
    ...(to.trim() === "" ? [{ field: `${at}.to`, message: "is required" }] : []),
    ...(from.trim() === "" ? [{ field: `${at}.from`, message: "is required" }] : []),
  ];
  return (
    <Card>
      <Form
        label="Place a call"
        action="Call"
        refused="Nobody was called. See the errors above."
        disabled={!may}
        check={check}
        onSave={async () => {
          const context = variables.context();
          const { callId } = await place.mutateAsync({
            medium: { [carrier]: { outgoing: { to: to.trim(), from: from.trim() } } },
            ...(Object.keys(context).length === 0 ? {} : { templateContext: { ...context } }),
          });
          onPlaced(callId);
        }}
      >
        <AgentField
          label="Agent"
          path="agentId"
          placeholder="Choose an agent"
          value={agentId}
          onChange={(next) => {
            // Another agent has other variables.
            variables.clear();
            setAddress(next === "" ? {} : { agent: next }, { replace: true });
          }}
        />
        {agent.error !== null && agentId !== "" && <ErrorState error={agent.error} />}
        <SelectField
          label="Carrier"
          value={carrier}
          choices={carriers.map((value) => ({ value, label: carrierName(value) }))}
          onChange={setCarrier}
        />
        <Columns>
          <ToField path={`${at}.to`} value={to} onChange={setTo} />
          <FromField path={`${at}.from`} value={from} onChange={setFrom} />
        </Columns>
        {agent.data !== undefined && <VariableFields agent={agent.data} variables={variables} />}
        <Refusal path={at} />
        <Note>The carrier charges your account there for the call.</Note>
      </Form>
    </Card>
  );
}

function usePlaceCall(agentId: string) {
  const once = useRequestKey();
  return useChange(
    (api, body: Body) =>
      once([agentId, body], (idempotencyKey) =>
        api.fetch("POST", "/api/agents/{agent_id}/calls", {
          params: { agent_id: agentId },
          body,
          idempotencyKey,
        }),
      ),
    ["/api/calls"],
  );
}

interface NumberProps {
  readonly path: string;
  readonly value: string;
  readonly onChange: (number: string) => void;
}

function ToField(props: NumberProps) {
  const { data } = useRead("/api/accounts/me/dialling_rules", {});
  const prefixes = data?.allowedPrefixes ?? [];
  const allowed = prefixes.length === 0 ? "" : ` Allowed prefixes: ${prefixes.join(", ")}.`;
  return (
    <TextField
      {...props}
      label="Number to call"
      hint={`With the country code.${allowed}`}
      type="tel"
      autoComplete="off"
      maxLength={256}
      placeholder="+4930123456"
    />
  );
}

/** Numbers of the account are suggested; others at the carrier are possible. */
function FromField({ path, value, onChange }: NumberProps) {
  const { data } = useRead("/api/phone_numbers", { query: { pageSize: 100 } });
  const options = (data?.results ?? []).map(({ number }) => ({ value: number, label: number }));
  return (
    <Field label="From" path={path} hint="A number of your account at the carrier.">
      <Combobox value={value} options={options} onChange={onChange} free placeholder="+4930654321" />
    </Field>
  );
}

/** What the carrier says about the call as a whole. */
function Refusal({ path }: { readonly path: string }) {
  const message = useFieldError(path);
  if (message === null) return null;
  return <FieldMessage message={`The call ${message.charAt(0).toLowerCase()}${message.slice(1)}`} />;
}
