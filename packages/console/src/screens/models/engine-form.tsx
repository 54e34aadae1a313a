/** The form that stores settings of an engine. */

import type { DeploymentEngine, EngineKind } from "@parley/schema";
import { useState } from "react";
import { Switch } from "../../ui/field.tsx";
import { Columns, Form, Note } from "../../ui/form.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { type EngineDraft, type EngineFieldName, patchOf } from "./engine-draft.ts";
import { ENGINE_WORDS } from "./engine-words.ts";
import type { ChangeEngines } from "./use-engines.ts";

export interface EngineFormProps {
  readonly kind: EngineKind;
  readonly engine: DeploymentEngine;
  readonly first: EngineDraft;
  readonly change: ChangeEngines;
  readonly onDone: (isSaved: boolean) => void;
}

/** A field that the environment sets says so, and cannot be changed. */
function fieldProps(kind: EngineKind, { setBy }: DeploymentEngine, name: EngineFieldName) {
  const variable = setBy[name];
  const aside = variable === null ? undefined : `set by ${variable}`;
  return { path: `${kind}.${name}`, disabled: variable !== null, aside };
}

export function EngineForm({ kind, engine, first, change, onDone }: EngineFormProps) {
  const [draft, setDraft] = useState(first);
  const set = (changes: Partial<EngineDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const { title, modelExample } = ENGINE_WORDS[kind];
  const field = (name: EngineFieldName) => fieldProps(kind, engine, name);
  return (
    <Form
      label={title}
      action="Save and use"
      onSave={async () => {
        await change(patchOf(kind, engine, draft));
        onDone(true);
      }}
      onCancel={() => onDone(false)}
    >
      <Columns>
        <TextField
          label="Address of the server"
          {...field("baseUrl")}
          hint="With the version. Empty: OpenAI. Private addresses are allowed."
          inputMode="url"
          spellCheck={false}
          placeholder="http://127.0.0.1:11434/v1"
          value={draft.baseUrl}
          onChange={(baseUrl) => set({ baseUrl })}
        />
        <TextField
          label="Model"
          {...field("model")}
          hint="Its name at this server."
          spellCheck={false}
          placeholder={modelExample}
          value={draft.model}
          onChange={(model) => set({ model })}
        />
        {kind === "tts" && (
          <TextField
            label="Voice"
            {...field("voice")}
            hint="Its name at this server."
            spellCheck={false}
            placeholder="af_heart"
            value={draft.voice}
            onChange={(voice) => set({ voice })}
          />
        )}
        <TextField
          label="Key"
          {...field("apiKey")}
          hint={keyHint(engine)}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={draft.apiKey}
          onChange={(apiKey) => set({ apiKey })}
        />
      </Columns>
      {hasStoredKey(engine) && (
        <Switch
          label="Remove the stored key"
          checked={draft.removesKey}
          onChange={(removesKey) => set({ removesKey })}
        />
      )}
      <Note>New calls use it at once. Running calls keep their engines.</Note>
    </Form>
  );
}

function hasStoredKey({ apiKey, setBy }: DeploymentEngine): boolean {
  return apiKey !== null && setBy.apiKey === null;
}

function keyHint(engine: DeploymentEngine): string {
  if (engine.apiKey === null) return "Empty if the server needs none.";
  return hasStoredKey(engine)
    ? `Empty: the stored key (${engine.apiKey}) stays, if the address stays.`
    : `The environment sets it (${engine.apiKey}).`;
}
