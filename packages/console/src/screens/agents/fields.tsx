/** Form fields, each bound to a path of the template. Hints, bounds and defaults come from the API schema. */

import { type ReactNode, useState } from "react";
import { Field, Switch, TextArea, TextInput } from "../../ui/field.tsx";
import { Combobox, type ComboboxOption } from "../../ui/combobox.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { errorPath, noteOf, useAt, useDraft } from "./draft-context.tsx";
import { isSame, linesOf } from "./draft.ts";

interface BoundProps {
  readonly path: string;
  readonly label: string;
  /** Replaces the hint from the schema. */
  readonly hint?: ReactNode;
}

/** Text between backticks is code. */
export function Hint({ text }: { readonly text: string }) {
  const parts = text.split("`");
  return parts.map((part, index) =>
    // The parts of a fixed text are identified by their position.
    index % 2 === 1 ? <code key={`${String(index)} ${part}`}>{part}</code> : part,
  );
}

function hintOf({ path, hint }: BoundProps): { readonly hint?: ReactNode } {
  const text = noteOf(path).hint;
  if (hint !== undefined) return hint === "" ? {} : { hint };
  return text === undefined ? {} : { hint: <Hint text={text} /> };
}

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function defaultOf(path: string): string | undefined {
  const { byDefault } = noteOf(path);
  return byDefault === undefined ? undefined : `Default: ${String(byDefault)}`;
}

export interface TextAtProps extends BoundProps {
  /** More than one: a text area with this many lines. */
  readonly rows?: number;
  readonly placeholder?: string;
  readonly aside?: ReactNode;
}

export function TextAt({ rows = 1, placeholder, aside, ...bound }: TextAtProps) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const control = {
    value: asText(value),
    placeholder: placeholder ?? defaultOf(path),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      set(event.target.value === "" ? undefined : event.target.value),
  };
  return (
    <Field label={label} aside={aside} path={errorPath(path)} {...hintOf(bound)}>
      {rows > 1 ? <TextArea rows={rows} {...control} /> : <TextInput {...control} />}
    </Field>
  );
}

/** A list of texts, one in each line. */
export function LinesAt({ rows, ...bound }: BoundProps & { readonly rows: number }) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const [typed, setTyped] = useState("");
  const lines = Array.isArray(value) ? value.map(asText) : [];
  // Spaces and empty lines are no part of the list, but must stay while the next word is typed.
  const text = isSame(linesOf(typed), lines) ? typed : lines.join("\n");
  return (
    <Field label={label} path={errorPath(path)} {...hintOf(bound)}>
      <TextArea
        rows={rows}
        value={text}
        onChange={(event) => {
          const next = event.target.value;
          setTyped(next);
          const list = linesOf(next);
          set(list.length === 0 ? undefined : list);
        }}
      />
    </Field>
  );
}

/** The API writes durations as seconds with an `s`; the field shows the number. */
export function DurationAt(bound: BoundProps) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const { byDefault, min, max } = noteOf(path);
  const seconds = (text: unknown): string => asText(text).replace(/s$/, "");
  const bounds = [min, max].map(seconds);
  const aside =
    max === undefined
      ? "seconds"
      : `seconds, ${bounds[0] === "" ? "0" : (bounds[0] ?? "0")} to ${bounds[1] ?? ""}`;
  return (
    <TextField
      label={label}
      aside={aside}
      path={errorPath(path)}
      {...hintOf(bound)}
      inputMode="decimal"
      value={seconds(value)}
      placeholder={byDefault === undefined ? "" : `Default: ${seconds(byDefault)}`}
      onChange={(typed) => {
        const text = typed.trim().replace(",", ".");
        set(text === "" ? undefined : `${text}s`);
      }}
    />
  );
}

export function NumberAt({ step, ...bound }: BoundProps & { readonly step: number }) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const { min, max } = noteOf(path);
  const aside = min === undefined || max === undefined ? undefined : `${String(min)} to ${String(max)}`;
  return (
    <TextField
      label={label}
      aside={aside}
      path={errorPath(path)}
      {...hintOf(bound)}
      type="number"
      step={step}
      min={min}
      max={max}
      value={asText(value)}
      placeholder={defaultOf(path)}
      onChange={(text) => set(text === "" ? undefined : Number(text))}
    />
  );
}

export function SwitchAt(bound: BoundProps) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const byDefault = noteOf(path).byDefault === true;
  return (
    <Switch
      label={label}
      path={errorPath(path)}
      {...hintOf(bound)}
      checked={typeof value === "boolean" ? value : byDefault}
      onChange={(checked) => set(checked === byDefault ? undefined : checked)}
    />
  );
}

export interface SelectAtProps extends BoundProps {
  /** The first choice is the default; it is not written to the template. */
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

export function SelectAt({ choices, ...bound }: SelectAtProps) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const first = choices[0]?.value ?? "";
  return (
    <SelectField
      label={label}
      path={errorPath(path)}
      {...hintOf(bound)}
      value={asText(value) === "" ? first : asText(value)}
      choices={choices}
      onChange={(next) => set(next === first ? undefined : next)}
    />
  );
}

export interface ComboboxAtProps extends BoundProps {
  readonly options: readonly ComboboxOption[];
  readonly placeholder?: string;
}

export function ComboboxAt({ options, placeholder = "", ...bound }: ComboboxAtProps) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  return (
    <Field label={label} path={errorPath(path)} {...hintOf(bound)}>
      <Combobox
        free
        value={asText(value)}
        options={options}
        placeholder={placeholder}
        onChange={(next) => set(next === "" ? undefined : next)}
      />
    </Field>
  );
}

/** For advanced parts, as JSON. */
export function JsonAt({ rows = 6, ...bound }: BoundProps & { readonly rows?: number }) {
  const { path, label } = bound;
  const [value, set] = useAt(path);
  const { setValid } = useDraft();
  return (
    <JsonEditor
      label={label}
      path={errorPath(path)}
      rows={rows}
      value={value}
      onChange={set}
      onValidity={(valid) => setValid(path, valid)}
      {...hintOf(bound)}
    />
  );
}
