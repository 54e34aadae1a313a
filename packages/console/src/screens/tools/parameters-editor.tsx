/** What a tool is given: by the model, always the same, or by the service. */

import type { KnownParameter, ParameterLocation } from "@parley/schema";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Switch } from "../../ui/field.tsx";
import { Columns, Fieldset } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import {
  type Definition,
  type DynamicParameter,
  given,
  kindOf,
  readValue,
  SCHEMA_TYPES,
  schemaOf,
  type SimpleSchema,
  simpleSchemaOf,
  valueText,
} from "./tool-draft.ts";
import styles from "./tools.module.css";

interface EditorProps {
  readonly definition: Definition;
  readonly onChange: (definition: Definition) => void;
}

const MAX_PARAMETERS = 64;

const LOCATIONS: readonly { readonly value: ParameterLocation; readonly label: string }[] = [
  { value: "PARAMETER_LOCATION_QUERY", label: "Query" },
  { value: "PARAMETER_LOCATION_PATH", label: "Path" },
  { value: "PARAMETER_LOCATION_HEADER", label: "Header" },
  { value: "PARAMETER_LOCATION_BODY", label: "Body" },
];

const KNOWN: readonly { readonly value: KnownParameter; readonly label: string }[] = [
  { value: "KNOWN_PARAM_CALL_ID", label: "Id of the call" },
  { value: "KNOWN_PARAM_CONVERSATION_HISTORY", label: "Conversation so far" },
  { value: "KNOWN_PARAM_CALL_METADATA", label: "Metadata of the call" },
  { value: "KNOWN_PARAM_CALL_STATE", label: "State of the call" },
  { value: "KNOWN_PARAM_CALL_STAGE_ID", label: "Id of the stage" },
  { value: "KNOWN_PARAM_OUTPUT_SAMPLE_RATE", label: "Sample rate of the agent's voice" },
  { value: "KNOWN_PARAM_THREAD_ID", label: "Id of the thread" },
  { value: "KNOWN_PARAM_THREAD_STATES", label: "States of all threads" },
];

interface LocationProps {
  readonly value: ParameterLocation | undefined;
  readonly path: string;
  readonly onChange: (location: ParameterLocation) => void;
}

function LocationField({ value, path, onChange }: LocationProps) {
  return (
    <SelectField
      label="Goes into"
      path={`${path}.location`}
      value={value ?? "PARAMETER_LOCATION_BODY"}
      choices={LOCATIONS}
      onChange={onChange}
    />
  );
}

interface NameProps {
  readonly value: string;
  readonly path: string;
  readonly onChange: (name: string) => void;
}

function NameField({ value, path, onChange }: NameProps) {
  return (
    <TextField
      label="Name"
      path={`${path}.name`}
      spellCheck={false}
      maxLength={128}
      value={value}
      onChange={onChange}
    />
  );
}

export function DynamicParameters({ definition, onChange }: EditorProps) {
  const rows = definition.dynamicParameters ?? [];
  return (
    <Fieldset legend="Filled in by the model" hint="What the model has to find out before it uses the tool.">
      <RowsEditor<DynamicParameter>
        noun="parameter"
        boxed
        rows={rows}
        max={MAX_PARAMETERS}
        onChange={(changed) => onChange({ ...definition, dynamicParameters: [...changed] })}
        fresh={() => ({ name: "", required: true, ...placeOf(definition), schema: { type: "string" } })}
      >
        {(row, change, index) => (
          <DynamicRow
            row={row}
            path={`definition.dynamicParameters.${String(index)}`}
            placed={kindOf(definition) === "http"}
            onChange={change}
          />
        )}
      </RowsEditor>
    </Fieldset>
  );
}

/** Where a new parameter goes: requests without a body take it in the query. */
function placeOf({ http }: Definition): { location?: ParameterLocation } {
  if (http === undefined) return {};
  const bodiless = ["GET", "HEAD"].includes((http.httpMethod ?? "POST").toUpperCase());
  return { location: bodiless ? "PARAMETER_LOCATION_QUERY" : "PARAMETER_LOCATION_BODY" };
}

interface DynamicRowProps {
  readonly row: DynamicParameter;
  readonly path: string;
  readonly placed: boolean;
  readonly onChange: (row: DynamicParameter) => void;
}

function DynamicRow({ row, path, placed, onChange }: DynamicRowProps) {
  const simple = simpleSchemaOf(row.schema);
  const [asJson, setAsJson] = useState(simple === null);
  return (
    <div className={styles.parameter}>
      <Columns>
        <NameField value={row.name} path={path} onChange={(name) => onChange({ ...row, name })} />
        {placed && (
          <LocationField
            value={row.location}
            path={path}
            onChange={(location) => onChange({ ...row, location })}
          />
        )}
        {!asJson && simple !== null && (
          <SelectField
            label="Type"
            path={`${path}.schema.type`}
            value={simple.type}
            choices={SCHEMA_TYPES.map((value) => ({ value, label: value }))}
            onChange={(type) => onChange({ ...row, schema: schemaOf({ ...simple, type }) })}
          />
        )}
      </Columns>
      {asJson || simple === null ? (
        <JsonEditor
          label="JSON Schema"
          path={`${path}.schema`}
          rows={6}
          value={row.schema}
          onChange={(schema) => onChange({ ...row, schema: objectOf(schema) })}
        />
      ) : (
        <SimpleSchemaFields
          schema={simple}
          path={path}
          onChange={(schema) => onChange({ ...row, schema: schemaOf(schema) })}
        />
      )}
      <div className={styles.parameterFoot}>
        <Switch
          label="Required"
          checked={row.required ?? false}
          onChange={(required) => onChange({ ...row, required })}
        />
        <Button
          small
          kind="quiet"
          disabled={asJson && simple === null}
          onClick={() => setAsJson((before) => !before)}
        >
          {asJson ? "Back to the form" : "Edit as JSON Schema"}
        </Button>
      </div>
    </div>
  );
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
}

interface SimpleSchemaProps {
  readonly schema: SimpleSchema;
  readonly path: string;
  readonly onChange: (schema: SimpleSchema) => void;
}

function SimpleSchemaFields({ schema, path, onChange }: SimpleSchemaProps) {
  return (
    <Columns>
      <TextField
        label="Description"
        path={`${path}.schema`}
        hint="Tells the model what belongs here."
        value={schema.description}
        onChange={(description) => onChange({ ...schema, description })}
      />
      {schema.type === "string" && (
        <TextField
          label="Choices"
          aside="optional"
          hint="With commas between them."
          value={schema.choices}
          onChange={(choices) => onChange({ ...schema, choices })}
        />
      )}
    </Columns>
  );
}

export function StaticParameters({ definition, onChange }: EditorProps) {
  const placed = kindOf(definition) === "http";
  return (
    <Fieldset
      legend="Always the same"
      hint="The model neither sees nor changes these. JSON is sent as what it is, such as 5 or true; quote it to send text."
    >
      <RowsEditor
        noun="fixed parameter"
        boxed
        rows={definition.staticParameters ?? []}
        max={MAX_PARAMETERS}
        onChange={(changed) => onChange({ ...definition, staticParameters: [...changed] })}
        fresh={() => ({ name: "", value: "", ...placeOf(definition) })}
      >
        {(row, change, index) => {
          const path = `definition.staticParameters.${String(index)}`;
          return (
            <Columns>
              <NameField value={row.name} path={path} onChange={(name) => change({ ...row, name })} />
              {placed && (
                <LocationField
                  value={row.location}
                  path={path}
                  onChange={(location) => change({ ...row, location })}
                />
              )}
              <ValueField
                value={row.value}
                path={`${path}.value`}
                onChange={(value) => change({ ...row, value })}
              />
            </Columns>
          );
        }}
      </RowsEditor>
    </Fieldset>
  );
}

interface ValueProps {
  readonly value: unknown;
  readonly path: string;
  readonly onChange: (value: unknown) => void;
}

/** The text as it is typed stays, though what it stands for may be written in another way. */
function ValueField({ value, path, onChange }: ValueProps) {
  const [text, setText] = useState(() => valueText(value));
  return (
    <TextField
      label="Value"
      path={path}
      value={text}
      onChange={(text) => {
        setText(text);
        onChange(given(text) === undefined ? "" : readValue(text));
      }}
    />
  );
}

export function AutomaticParameters({ definition, onChange }: EditorProps) {
  const placed = kindOf(definition) === "http";
  return (
    <Fieldset legend="Filled in by the service" hint="What the service knows of the call.">
      <RowsEditor
        noun="automatic parameter"
        boxed
        rows={definition.automaticParameters ?? []}
        max={MAX_PARAMETERS}
        onChange={(changed) => onChange({ ...definition, automaticParameters: [...changed] })}
        fresh={() => ({ name: "", knownValue: "KNOWN_PARAM_CALL_ID" as const, ...placeOf(definition) })}
      >
        {(row, change, index) => {
          const path = `definition.automaticParameters.${String(index)}`;
          return (
            <Columns>
              <NameField value={row.name} path={path} onChange={(name) => change({ ...row, name })} />
              {placed && (
                <LocationField
                  value={row.location}
                  path={path}
                  onChange={(location) => change({ ...row, location })}
                />
              )}
              <SelectField
                label="Value"
                path={`${path}.knownValue`}
                value={row.knownValue}
                choices={KNOWN}
                onChange={(knownValue) => change({ ...row, knownValue })}
              />
            </Columns>
          );
        }}
      </RowsEditor>
    </Fieldset>
  );
}
