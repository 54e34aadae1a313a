/** The fields of one kind of voice, made from the API schema: text, number, choice, yes or no. */

import type { VoiceKind } from "@parley/schema";
import { notes } from "virtual:field-notes/VoiceWrite";
import { useState } from "react";
import { Field, Switch, TextInput } from "../../ui/field.tsx";
import { Columns, Note } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { mapOf, type Pair, PairsEditor, pairsOf } from "../../ui/rows-editor.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { fieldsOfKind, type VoiceField } from "./voice-field-list.ts";
import type { Fields } from "./voice-draft.ts";

export interface VoiceFieldsProps {
  readonly kind: VoiceKind;
  readonly fields: Fields;
  readonly onChange: (fields: Fields) => void;
}

export function VoiceFields({ kind, fields, onChange }: VoiceFieldsProps) {
  const known = fieldsOfKind(kind);
  const set = (name: string) => (value: unknown) => onChange({ ...fields, [name]: value });
  const one = (field: VoiceField) => (
    <OneField
      key={field.name}
      kind={kind}
      field={field}
      value={fields[field.name]}
      onChange={set(field.name)}
    />
  );
  return (
    <>
      <Columns>{known.filter(({ type }) => type !== "json" && type !== "map").map(one)}</Columns>
      {known.filter(({ type }) => type === "json" || type === "map").map(one)}
    </>
  );
}

interface OneFieldProps {
  readonly kind: VoiceKind;
  readonly field: VoiceField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function OneField({ kind, field, value, onChange }: OneFieldProps) {
  const path = `definition.${kind}.${field.name}`;
  const note = notes[path] ?? {};
  const hint = [field.hint, note.hint, rangeOf(note.min, note.max), defaultOf(note.byDefault)]
    .filter((part) => part !== undefined)
    .join(" ");
  const shown = { label: field.label, path, hint: hint === "" ? undefined : hint };
  switch (field.type) {
    case "flag":
      return <Switch {...shown} checked={value === true} onChange={onChange} />;
    case "json":
      return <JsonEditor {...shown} rows={4} value={value} onChange={onChange} />;
    case "map":
      return <HeadersField path={path} value={value} onChange={onChange} />;
    case "choice":
      return (
        <SelectField
          {...shown}
          value={typeof value === "string" ? value : ""}
          choices={["", ...(note.choices ?? [])].map((each) => ({
            value: each,
            label: each === "" ? "Default" : each,
          }))}
          onChange={onChange}
        />
      );
    case "number":
      return (
        <Field {...shown}>
          <NumberInput value={value} onChange={onChange} />
        </Field>
      );
    case "text":
    default:
      return (
        <TextField
          {...shown}
          spellCheck={false}
          value={typeof value === "string" ? value : ""}
          onChange={onChange}
        />
      );
  }
}

type Bound = string | number | undefined;

function rangeOf(min: Bound, max: Bound): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  if (max === undefined) return `From ${String(min)}.`;
  if (min === undefined) return `At most ${String(max)}.`;
  return `${String(min)} to ${String(max)}.`;
}

function defaultOf(byDefault: Bound | boolean): string | undefined {
  return byDefault === undefined ? undefined : `Default: ${String(byDefault)}.`;
}

interface InputProps {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** Keeps the text as typed: `0.` can become `0.5`. Invalid numbers are sent, and the service reports them. */
function NumberInput({ value, onChange }: InputProps) {
  const [text, setText] = useState(() => (typeof value === "number" ? String(value) : ""));
  return (
    <TextInput
      inputMode="decimal"
      value={text}
      onChange={(event) => {
        const typed = event.target.value;
        setText(typed);
        const number = Number(typed.replace(",", "."));
        onChange(typed.trim() === "" ? undefined : Number.isNaN(number) ? typed : number);
      }}
    />
  );
}

function HeadersField({ path, value, onChange }: InputProps & { readonly path: string }) {
  const [pairs, setPairs] = useState<readonly Pair[]>(() => pairsOf(textsOf(value)));
  return (
    <>
      <Note>
        Sent with each request. Values are stored encrypted. A value that ends with … keeps its stored value.
      </Note>
      <PairsEditor
        noun="header"
        path={path}
        pairs={pairs}
        onChange={(changed) => {
          setPairs(changed);
          onChange(mapOf(changed));
        }}
      />
    </>
  );
}

function textsOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
