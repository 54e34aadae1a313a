/** A JSON editor that shows syntax errors with their position while typing. */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { TextAreaField } from "./text-field.tsx";

export interface JsonEditorProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The path of this field in errors of the service. */
  readonly path?: string | undefined;
  readonly value: unknown;
  /** Called only with valid JSON. Empty text is `undefined`. */
  readonly onChange: (value: unknown) => void;
  /** Whether the current text is valid. */
  readonly onValidity?: (valid: boolean) => void;
  readonly rows?: number;
}

export function JsonEditor({ label, hint, path, value, onChange, onValidity, rows = 12 }: JsonEditorProps) {
  const [text, setText] = useState(() => textOf(value));
  const [error, setError] = useState<string | null>(null);
  const own = useRef(value);
  useEffect(() => {
    // Changed by another view of the same document.
    if (own.current === value) return;
    own.current = value;
    setText(textOf(value));
    setError(null);
  }, [value]);
  const tell = useRef(onValidity);
  tell.current = onValidity;
  // Invalid JSON disappears with its field.
  useEffect(() => () => tell.current?.(true), []);
  const change = (next: string) => {
    setText(next);
    const read = readJson(next);
    setError(read.error);
    onValidity?.(read.error === null);
    if (read.error !== null) return;
    own.current = read.value;
    onChange(read.value);
  };
  return (
    <TextAreaField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      {...(path === undefined ? {} : { path })}
      error={error}
      mono
      rows={rows}
      spellCheck={false}
      value={text}
      onChange={change}
    />
  );
}

function textOf(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

interface ReadJson {
  readonly value: unknown;
  readonly error: string | null;
}

export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { value: undefined, error: null };
  try {
    const value: unknown = JSON.parse(text);
    return { value, error: null };
  } catch (error) {
    return { value: undefined, error: `Invalid JSON: ${placed(error, text)}` };
  }
}

/** Browsers report the position differently, or not at all. */
function placed(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined || message.includes("line ")) return message;
  const before = text.slice(0, Number(position)).split("\n");
  return `${message} (line ${String(before.length)}, column ${String((before.at(-1) ?? "").length + 1)})`;
}
