/** Labelled controls. A field connects its label, hint and error with its control. */

import { ChevronDown, CircleAlert, TriangleAlert } from "lucide-react";
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from "react";
import { classNames } from "./class-names.ts";
import { useFieldError, useFieldWarning } from "./field-errors.tsx";
import styles from "./field.module.css";

export interface FieldProps {
  readonly label: ReactNode;
  /** Small text beside the label: a unit, "optional". */
  readonly aside?: ReactNode;
  readonly hint?: ReactNode;
  /** Overrides the service's message for `path`. */
  readonly error?: string | null | undefined;
  /** The path of this field in errors of the service: dotted, with positions, such as `callTemplate.voice`. */
  readonly path?: string | undefined;
  readonly children: ReactNode;
  readonly className?: string;
}

interface ControlProps {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

const FieldContext = createContext<ControlProps | null>(null);

/** The id of the label of the field whose control has this id. */
export function labelIdOf(controlId: string): string {
  return `${controlId}-label`;
}

/** Attributes that a control inside a `Field` needs; the controls of this file have them. */
export function useControl(): ControlProps | Record<string, never> {
  return useContext(FieldContext) ?? {};
}

export function Field({ label, aside, hint, error, path, children, className }: FieldProps) {
  const id = useId();
  const { control, message, warning, hintId, errorId } = useFieldParts(id, { hint, error, path });
  return (
    <div className={classNames(styles.field, className)}>
      <label className={styles.label} htmlFor={id}>
        <span id={labelIdOf(id)}>{label}</span>
        {aside !== undefined && <span className={styles.aside}>{aside}</span>}
      </label>
      <FieldContext value={control}>{children}</FieldContext>
      {message !== null && <FieldMessage id={errorId} message={message} />}
      {warning !== null && <FieldMessage id={errorId} message={warning} tone="warn" />}
      {hint !== undefined && (
        <div id={hintId} className={styles.hint}>
          {hint}
        </div>
      )}
    </div>
  );
}

function useFieldParts(id: string, { hint, error, path }: Pick<FieldProps, "hint" | "error" | "path">) {
  const fieldError = useFieldError(path);
  const message = error ?? fieldError;
  const fieldWarning = useFieldWarning(path);
  // The field shows one message at a time.
  const warning = message === null ? fieldWarning : null;
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const described = [
    message === null && warning === null ? null : errorId,
    hint === undefined ? null : hintId,
  ].filter((one) => one !== null);
  const control: ControlProps = {
    id,
    ...(described.length === 0 ? {} : { "aria-describedby": described.join(" ") }),
    ...(message === null ? {} : { "aria-invalid": true as const }),
  };
  return { control, message, warning, hintId, errorId };
}

export interface FieldMessageProps {
  readonly id?: string;
  readonly message: string;
  readonly tone?: "bad" | "warn";
}

export function FieldMessage({ id, message, tone = "bad" }: FieldMessageProps) {
  const Icon = tone === "warn" ? TriangleAlert : CircleAlert;
  return (
    <div
      {...(id === undefined ? {} : { id })}
      className={classNames(styles.error, tone === "warn" && styles.warning)}
    >
      <Icon aria-hidden="true" />
      <span>{message}</span>
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return <input type="text" {...useControl()} {...rest} className={classNames(styles.input, className)} />;
}

export interface TextAreaProps extends ComponentProps<"textarea"> {
  readonly mono?: boolean;
}

export function TextArea({ className, mono = false, ...rest }: TextAreaProps) {
  return (
    <textarea
      {...useControl()}
      {...rest}
      className={classNames(styles.input, mono && styles.mono, className)}
    />
  );
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

export interface SelectProps<Value extends string> extends Omit<
  ComponentProps<"select">,
  "onChange" | "value" | "children"
> {
  readonly value: NoInfer<Value>;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}

/** The native select, which works on phones, with keyboards and with screen readers. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { value, choices, onChange, className, ...rest } = props;
  return (
    <div className={classNames(styles.select, className)}>
      <select
        {...useControl()}
        {...rest}
        className={styles.input}
        value={value}
        onChange={(event) => {
          const chosen = choices.find((choice) => choice.value === event.target.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <ChevronDown aria-hidden="true" />
    </div>
  );
}

export interface SwitchProps extends Pick<FieldProps, "label" | "hint" | "error" | "path"> {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

/** On or off, with its label beside it. */
export function Switch({ label, hint, error, path, checked, onChange, disabled = false }: SwitchProps) {
  const id = useId();
  const { control, message, hintId, errorId } = useFieldParts(id, { hint, error, path });
  return (
    <div className={styles.switchRow}>
      <input
        {...control}
        type="checkbox"
        role="switch"
        className={styles.switch}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div className={styles.field}>
        <label className={styles.label} htmlFor={id}>
          {label}
        </label>
        {message !== null && <FieldMessage id={errorId} message={message} />}
        {hint !== undefined && (
          <div id={hintId} className={styles.hint}>
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}
