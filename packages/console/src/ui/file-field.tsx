/** A field to choose a file. */

import type { ReactNode } from "react";
import { Field, useControl } from "./field.tsx";
import styles from "./field.module.css";

export interface FileFieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly path?: string;
  /** Extensions and types for `<input accept>`. */
  readonly accept: string;
  readonly file: File | null;
  readonly onChange: (file: File | null) => void;
}

export function FileField({ label, hint, path, accept, file, onChange }: FileFieldProps) {
  return (
    <Field label={label} hint={hint} path={path} aside={file === null ? undefined : sizeText(file.size)}>
      <FileInput accept={accept} onChange={onChange} />
    </Field>
  );
}

function FileInput({ accept, onChange }: Pick<FileFieldProps, "accept" | "onChange">) {
  return (
    <input
      {...useControl()}
      type="file"
      className={styles.input}
      accept={accept}
      onChange={(event) => onChange(event.target.files?.[0] ?? null)}
    />
  );
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${String(bytes)} bytes`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
