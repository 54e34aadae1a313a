/** The form of a tool. */

import { type FieldFault } from "../../ui/field-errors.tsx";
import { Card } from "../../ui/display.tsx";
import { Switch } from "../../ui/field.tsx";
import { Columns, Form, Note } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { mapOf, pairsOf, type Pair, PairsEditor } from "../../ui/rows-editor.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/text-field.tsx";
import { useState } from "react";
import { notes } from "virtual:field-notes/ToolWrite";
import { AutomaticParameters, DynamicParameters, StaticParameters } from "./parameters-editor.tsx";
import { checkTool } from "./tool-check.ts";
import {
  type Definition,
  given,
  KIND_NAMES,
  KIND_NOTES,
  kindOf,
  TOOL_KINDS,
  type ToolDraft,
  withKind,
} from "./tool-draft.ts";

export interface ToolFormProps {
  readonly initial: ToolDraft;
  readonly action: string;
  readonly onSave: (draft: ToolDraft) => Promise<unknown>;
  readonly onCancel?: () => void;
}

export function ToolForm({ initial, action, onSave, onCancel }: ToolFormProps) {
  const [draft, setDraft] = useState(initial);
  const { name, definition } = draft;
  const setDefinition = (changed: Definition) => setDraft((before) => ({ ...before, definition: changed }));
  const parts = { definition, onChange: setDefinition };
  return (
    <Form
      label="Tool"
      action={action}
      onCancel={onCancel}
      check={(): readonly FieldFault[] => checkTool(draft)}
      onSave={() => onSave(draft)}
    >
      <Card title="General">
        <Columns>
          <TextField
            label="Name"
            path="name"
            hint="Agents refer to the tool by this name."
            required
            maxLength={notes["name"]?.maxLength}
            value={name}
            onChange={(name) => setDraft((before) => ({ ...before, name }))}
          />
          <TextField
            label="Name shown to the model"
            aside="optional"
            path="definition.modelToolName"
            hint="Letters, digits, _ and -. Leave empty to generate it from the name."
            spellCheck={false}
            maxLength={64}
            value={definition.modelToolName ?? ""}
            onChange={(text) => setDefinition({ ...definition, modelToolName: given(text) })}
          />
        </Columns>
        <TextAreaField
          label="Description"
          path="definition.description"
          hint="Tells the model what the tool does and when to use it."
          rows={3}
          value={definition.description ?? ""}
          onChange={(text) => setDefinition({ ...definition, description: given(text) })}
        />
      </Card>
      <Implementation {...parts} />
      {kindOf(definition) !== "mcp" && (
        <Card title="Parameters">
          <DynamicParameters {...parts} />
          <StaticParameters {...parts} />
          <AutomaticParameters {...parts} />
        </Card>
      )}
      <Behaviour {...parts} />
    </Form>
  );
}

interface PartProps {
  readonly definition: Definition;
  readonly onChange: (definition: Definition) => void;
}

function Implementation({ definition, onChange }: PartProps) {
  const kind = kindOf(definition);
  return (
    <Card title="Implementation">
      <SelectField
        label="Tool type"
        path="definition"
        hint={KIND_NOTES[kind]}
        value={kind}
        choices={TOOL_KINDS.map((value) => ({ value, label: KIND_NAMES[value] }))}
        onChange={(chosen) => onChange(withKind(definition, chosen))}
      />
      {kind === "http" && <HttpFields definition={definition} onChange={onChange} />}
      {kind === "mcp" && <McpFields definition={definition} onChange={onChange} />}
      {kind === "staticResponse" && (
        <TextAreaField
          label="Result"
          path="definition.staticResponse.responseText"
          rows={3}
          value={definition.staticResponse?.responseText ?? ""}
          onChange={(responseText) => onChange({ ...definition, staticResponse: { responseText } })}
        />
      )}
    </Card>
  );
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((value) => ({
  value,
  label: value,
}));

function HttpFields({ definition, onChange }: PartProps) {
  const http = definition.http ?? { baseUrlPattern: "" };
  return (
    <>
      <Columns>
        <SelectField
          label="Method"
          path="definition.http.httpMethod"
          value={(http.httpMethod ?? "POST").toUpperCase()}
          choices={METHODS}
          onChange={(httpMethod) => onChange({ ...definition, http: { ...http, httpMethod } })}
        />
        <TextField
          label="URL"
          path="definition.http.baseUrlPattern"
          hint={notes["definition.http.baseUrlPattern"]?.hint}
          inputMode="url"
          spellCheck={false}
          maxLength={2048}
          value={http.baseUrlPattern}
          onChange={(baseUrlPattern) => onChange({ ...definition, http: { ...http, baseUrlPattern } })}
        />
      </Columns>
      <JsonEditor
        label="Requirements"
        hint={
          <>
            Optional. Credentials that an agent must provide to use this tool, for example{" "}
            <code>
              {
                '{"httpSecurityOptions": {"options": [{"requirements": {"key": {"headerApiKey": {"name": "X-Key"}}}}]}}'
              }
            </code>
            . The credentials are stored with the agent.
          </>
        }
        path="definition.requirements"
        rows={3}
        value={definition.requirements}
        onChange={(requirements) =>
          onChange({ ...definition, requirements: requirements as Definition["requirements"] })
        }
      />
    </>
  );
}

function McpFields({ definition, onChange }: PartProps) {
  const mcp = definition.mcp ?? { serverUrl: "" };
  const [headers, setHeaders] = useState<readonly Pair[]>(() => pairsOf(mcp.headers));
  return (
    <>
      <Columns>
        <TextField
          label="Server"
          path="definition.mcp.serverUrl"
          inputMode="url"
          spellCheck={false}
          value={mcp.serverUrl}
          onChange={(serverUrl) => onChange({ ...definition, mcp: { ...mcp, serverUrl } })}
        />
        <TextField
          label="Tool on the server"
          aside="optional"
          path="definition.mcp.toolName"
          hint="Leave empty to use all tools of the server."
          spellCheck={false}
          value={mcp.toolName ?? ""}
          onChange={(text) => onChange({ ...definition, mcp: { ...mcp, toolName: given(text) } })}
        />
      </Columns>
      <Note>Sent with each request to the server. Values are stored encrypted.</Note>
      <PairsEditor
        noun="header"
        path="definition.mcp.headers"
        pairs={headers}
        onChange={(pairs) => {
          setHeaders(pairs);
          onChange({ ...definition, mcp: { ...mcp, headers: mapOf(pairs) } });
        }}
      />
    </>
  );
}

const REACTIONS = [
  { value: "AGENT_REACTION_SPEAKS", label: "Speaks" },
  { value: "AGENT_REACTION_LISTENS", label: "Listens" },
  { value: "AGENT_REACTION_SPEAKS_ONCE", label: "Speaks, unless it just did" },
] as const;

function Behaviour({ definition, onChange }: PartProps) {
  return (
    <Card title="Behaviour">
      <Columns>
        <SelectField
          label="After the result, the agent"
          path="definition.defaultReaction"
          value={definition.defaultReaction ?? "AGENT_REACTION_SPEAKS"}
          choices={REACTIONS}
          onChange={(defaultReaction) => onChange({ ...definition, defaultReaction })}
        />
        <TextField
          label="Timeout"
          path="definition.timeout"
          hint={`For example, 2.5s. Up to ${String(notes["definition.timeout"]?.max ?? "40s")}. Default: ${String(notes["definition.timeout"]?.byDefault ?? "2.5s")}.`}
          spellCheck={false}
          placeholder={String(notes["definition.timeout"]?.byDefault ?? "")}
          value={definition.timeout ?? ""}
          onChange={(text) => onChange({ ...definition, timeout: given(text) })}
        />
      </Columns>
      <Switch
        label="Allow early execution"
        hint="Use this only for tools that read data. The tool may run before the caller has finished speaking, so that the agent answers sooner."
        path="definition.precomputable"
        checked={definition.precomputable ?? false}
        onChange={(precomputable) => onChange({ ...definition, precomputable })}
      />
    </Card>
  );
}
