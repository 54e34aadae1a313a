/** Fields for the variables of an agent's template. */

import type { OutputOf } from "@parley/client/rest";
import { Columns, Fieldset } from "../ui/form.tsx";
import { JsonEditor } from "../ui/json-editor.tsx";
import { TextField } from "../ui/text-field.tsx";
import { needsDocument, variablesOf } from "./template-variables.ts";
import type { Variables } from "./use-variables.ts";

export interface VariableFieldsProps {
  readonly agent: OutputOf<"GET", "/api/agents/{agent_id}">;
  readonly variables: Variables;
}

export function VariableFields({ agent, variables }: VariableFieldsProps) {
  const template = { ...agent.callTemplate };
  const names = variablesOf(template);
  if (names.length === 0 && template.contextSchema === undefined) return null;
  if (needsDocument(template)) {
    return (
      <JsonEditor
        label="Variables (JSON)"
        hint={
          names.length === 0
            ? "Must match the variable schema of the agent."
            : `Used in the agent’s texts: ${names.join(", ")}.`
        }
        path="templateContext"
        rows={5}
        value={variables.document}
        onChange={variables.setDocument}
        onValidity={variables.setValid}
      />
    );
  }
  return (
    <Fieldset legend="Variables">
      <Columns>
        {names.map((name) => (
          <TextField
            key={name}
            label={<code>{name}</code>}
            path={`templateContext.${name}`}
            value={variables.values.get(name) ?? ""}
            onChange={(text) => variables.setValue(name, text)}
          />
        ))}
      </Columns>
    </Fieldset>
  );
}
