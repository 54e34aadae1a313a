/** Fields with one control. `onChange` gets the value, not the event. */

import type { ComponentProps } from "react";
import { Field, type FieldProps, Select, type SelectProps, TextArea, TextInput } from "./field.tsx";

type Around = Omit<FieldProps, "children" | "className">;

interface Bound extends Around {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

type Own<Control, Names extends keyof Control> = Pick<Control, Names>;
type Typed = "placeholder" | "maxLength" | "spellCheck" | "autoComplete" | "required" | "disabled";

export interface TextFieldProps
  extends Bound, Own<ComponentProps<"input">, Typed | "type" | "inputMode" | "min" | "max" | "step"> {}

export function TextField({ label, aside, hint, error, path, onChange, ...control }: TextFieldProps) {
  return (
    <Field {...{ label, aside, hint, error, path }}>
      <TextInput {...control} onChange={(event) => onChange(event.target.value)} />
    </Field>
  );
}

export interface TextAreaFieldProps
  extends Bound, Own<ComponentProps<typeof TextArea>, Typed | "rows" | "mono"> {}

export function TextAreaField({ label, aside, hint, error, path, onChange, ...control }: TextAreaFieldProps) {
  return (
    <Field {...{ label, aside, hint, error, path }}>
      <TextArea {...control} onChange={(event) => onChange(event.target.value)} />
    </Field>
  );
}

export interface SelectFieldProps<Value extends string>
  extends Around, Own<SelectProps<Value>, "value" | "choices" | "onChange" | "disabled"> {}

export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, aside, hint, error, path, ...control } = props;
  return (
    <Field {...{ label, aside, hint, error, path }}>
      <Select {...control} />
    </Field>
  );
}
