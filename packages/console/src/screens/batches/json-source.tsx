/** Calls in the JSON format of the API. */

import { useEffect, useMemo, useState } from "react";
import { FileField } from "../../ui/file-field.tsx";
import { Columns, Notice } from "../../ui/form.tsx";
import { readJson } from "../../ui/json-editor.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { TextAreaField } from "../../ui/text-field.tsx";
import { type CallsSource, fileText } from "./calls-source.ts";

const EXAMPLE = `[{ "templateContext": { "guest": "Ann" }, "metadata": { "order": "1001" } }]`;

/** Whether a call is one over SIP, which needs a setting of the service. */
function isOverSip(call: unknown): boolean {
  const medium = typeof call === "object" && call !== null && "medium" in call ? call.medium : null;
  if (typeof medium !== "object" || medium === null) return false;
  return "sip" in medium;
}

/** A list, or a request body that contains one. */
function callsIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (typeof value !== "object" || value === null || !("calls" in value)) return null;
  return Array.isArray(value.calls) ? (value.calls as readonly unknown[]) : null;
}

export function JsonSource({ onSource }: { readonly onSource: (source: CallsSource | null) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [loaded, setLoaded] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [pasted, setPasted] = useState("");
  const choose = (chosen: File | null) => {
    setFile(chosen);
    setLoaded(null);
    setFailure(null);
    if (chosen !== null) fileText(chosen).then(({ text }) => setLoaded(text), setFailure);
  };
  const text = file === null ? pasted : (loaded ?? "");
  const { value, error } = useMemo(() => readJson(text), [text]);
  const calls = useMemo(() => callsIn(value), [value]);
  const hasSip = useMemo(() => calls?.some(isOverSip) ?? false, [calls]);
  const fault = text.trim() === "" ? null : (error ?? (calls === null ? "Must be a list of calls." : null));
  useEffect(() => {
    if (calls === null) onSource(null);
    else
      onSource({
        count: calls.length,
        callAt: (index) => calls[index],
        textAt: (index) => JSON.stringify(calls[index]),
        placeAt: (index) => `Call ${(index + 1).toLocaleString()}`,
        faults: [],
      });
  }, [calls, onSource]);
  return (
    <>
      <Columns>
        <FileField label="File" path="file" accept=".json,application/json" file={file} onChange={choose} />
        <TextAreaField
          label="Or paste JSON"
          path="calls"
          error={fault}
          hint={<code>{EXAMPLE}</code>}
          mono
          rows={8}
          spellCheck={false}
          disabled={file !== null}
          value={pasted}
          onChange={setPasted}
        />
      </Columns>
      {hasSip && (
        <Notice tone="warn">
          SIP calls need the setting SIP_HOST of the service. Without it, a call over SIP pauses the batch.
        </Notice>
      )}
      {failure !== null && <ErrorState error={failure} />}
    </>
  );
}
