/** The parameters of a tool: from the model, fixed, or from the service. */

import type { KnownParameter, ParameterLocation } from "@parley/schema";
import { type ReactNode, useState } from "react";
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
  { value: "KNOWN_PARAM_CALL_ID", label: "Call ID" },
  { value: "KNOWN_PARAM_CONVERSATION_HISTORY", label: "Conversation history" },
  { value: "KNOWN_PARAM_CALL_METADATA", label: "Call metadata" },
  { value: "KNOWN_PARAM_CALL_STATE", label: "Call state" },
  { value: "KNOWN_PARAM_CALL_STAGE_ID", label: "Stage ID" },
  { value: "KNOWN_PARAM_OUTPUT_SAMPLE_RATE", label: "Output sample rate" },
  { value: "KNOWN_PARAM_THREAD_ID", label: "Thread ID" },
  { value: "KNOWN_PARAM_THREAD_STATES", label: "Thread states" },
];

interface Parameter {
  readonly name: string;
  readonly location?: ParameterLocation | undefined;
}

interface RowProps<Row> {
  readonly row: Row;
  readonly onChange: (row: Row) => void;
  /** The path of the parameter in errors. */
  readonly path: string;
  /** Whether it has a location, as in HTTP requests. */
  readonly placed: boolean;
}

interface ParametersProps<Row> {
  readonly legend: string;
  readonly hint: string;
  readonly noun: string;
  readonly definition: Definition;
  readonly list: "dynamicParameters" | "staticParameters" | "automaticParameters";
  readonly rows: readonly Row[] | undefined;
  readonly onChange: (rows: Row[]) => void;
  readonly fresh: () => Row;
  readonly children: (props: RowProps<Row>) => ReactNode;
}

function Parameters<Row extends Parameter>(props: ParametersProps<Row>) {
  const { legend, hint, noun, definition, list, rows = [], onChange, fresh, children } = props;
  return (
    <Fieldset legend={legend} hint={hint}>
      <RowsEditor<Row>
        noun={noun}
        boxed
        rows={rows}
        max={MAX_PARAMETERS}
        onChange={(changed) => onChange([...changed])}
        fresh={fresh}
      >
        {(row, change, index) =>
          children({
            row,
            onChange: change,
            path: `definition.${list}.${String(index)}`,
            placed: kindOf(definition) === "http",
          })
        }
      </RowsEditor>
    </Fieldset>
  );
}

/** The fields that all parameters have. */
function CommonFields<Row extends Parameter>({ row, onChange, path, placed }: RowProps<Row>) {
  return (
    <>
      <TextField
        label="Name"
        path={`${path}.name`}
        spellCheck={false}
        maxLength={128}
        value={row.name}
        onChange={(name) => onChange({ ...row, name })}
      />
      {placed && (
        <SelectField
          label="Location"
          path={`${path}.location`}
          value={row.location ?? "PARAMETER_LOCATION_BODY"}
          choices={LOCATIONS}
          onChange={(location) => onChange({ ...row, location })}
        />
      )}
    </>
  );
}

export function DynamicParameters({ definition, onChange }: EditorProps) {
  return (
    <Parameters<DynamicParameter>
      legend="Parameters from the model"
      hint="The model fills these in when it calls the tool."
      noun="parameter"
      definition={definition}
      list="dynamicParameters"
      rows={definition.dynamicParameters}
      onChange={(dynamicParameters) => onChange({ ...definition, dynamicParameters })}
      fresh={() => ({ name: "", required: true, ...placeOf(definition), schema: { type: "string" } })}
    >
      {(props) => <DynamicRow {...props} />}
    </Parameters>
  );
}

/** The location of a new parameter: the query for requests without a body. */
function placeOf({ http }: Definition): { location?: ParameterLocation } {
  if (http === undefined) return {};
  const bodiless = ["GET", "HEAD"].includes((http.httpMethod ?? "POST").toUpperCase());
  return { location: bodiless ? "PARAMETER_LOCATION_QUERY" : "PARAMETER_LOCATION_BODY" };
}

function DynamicRow(props: RowProps<DynamicParameter>) {
  const { row, path, onChange } = props;
  const simple = simpleSchemaOf(row.schema);
  const [asJson, setAsJson] = useState(simple === null);
  return (
    <div className={styles.parameter}>
      <Columns>
        <CommonFields {...props} />
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
          {asJson ? "Edit as form" : "Edit as JSON Schema"}
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
        hint="Tells the model what to fill in."
        value={schema.description}
        onChange={(description) => onChange({ ...schema, description })}
      />
      {schema.type === "string" && (
        <TextField
          label="Choices"
          aside="optional"
          hint="Separated by commas."
          value={schema.choices}
          onChange={(choices) => onChange({ ...schema, choices })}
        />
      )}
    </Columns>
  );
}

export function StaticParameters({ definition, onChange }: EditorProps) {
  return (
    <Parameters
      legend="Fixed parameters"
      hint="The model cannot see these. Values such as 5 or true are sent as JSON. To send them as text, put them in quotes."
      noun="fixed parameter"
      definition={definition}
      list="staticParameters"
      rows={definition.staticParameters}
      onChange={(staticParameters) => onChange({ ...definition, staticParameters })}
      fresh={() => ({ name: "", value: "", ...placeOf(definition) })}
    >
      {(props) => (
        <Columns>
          <CommonFields {...props} />
          <ValueField
            value={props.row.value}
            path={`${props.path}.value`}
            onChange={(value) => props.onChange({ ...props.row, value })}
          />
        </Columns>
      )}
    </Parameters>
  );
}

interface ValueProps {
  readonly value: unknown;
  readonly path: string;
  readonly onChange: (value: unknown) => void;
}

/** Keeps the text as typed, even if its value could be written differently. */
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
  return (
    <Parameters
      legend="Automatic parameters"
      hint="Filled in from the call."
      noun="automatic parameter"
      definition={definition}
      list="automaticParameters"
      rows={definition.automaticParameters}
      onChange={(automaticParameters) => onChange({ ...definition, automaticParameters })}
      fresh={() => ({ name: "", knownValue: "KNOWN_PARAM_CALL_ID" as const, ...placeOf(definition) })}
    >
      {(props) => (
        <Columns>
          <CommonFields {...props} />
          <SelectField
            label="Value"
            path={`${props.path}.knownValue`}
            value={props.row.knownValue}
            choices={KNOWN}
            onChange={(knownValue) => props.onChange({ ...props.row, knownValue })}
          />
        </Columns>
      )}
    </Parameters>
  );
}
