/** The form of a voice. */

import { notes } from "virtual:field-notes/VoiceWrite";
import { useState } from "react";
import { Card } from "../../ui/display.tsx";
import { Columns, Form } from "../../ui/form.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { TryDraft } from "./voice-preview.tsx";
import { KIND_NAMES, KINDS, NEW_VOICE, type VoiceDraft } from "./voice-draft.ts";
import { VoiceFields } from "./voice-fields.tsx";

export interface VoiceFormProps {
  readonly initial: VoiceDraft;
  readonly action: string;
  readonly onSave: (draft: VoiceDraft) => Promise<unknown>;
  readonly onCancel?: () => void;
}

export function VoiceForm({ initial, action, onSave, onCancel }: VoiceFormProps) {
  const [draft, setDraft] = useState(initial);
  const set = (changes: Partial<VoiceDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const check = () => (draft.name.trim() === "" ? [{ field: "name", message: "is required" }] : []);
  return (
    <Form label="Voice" action={action} onCancel={onCancel} check={check} onSave={() => onSave(draft)}>
      <Card title="General">
        <Columns>
          <TextField
            label="Name"
            path="name"
            hint="Agents refer to the voice by this name."
            maxLength={notes["name"]?.maxLength}
            value={draft.name}
            onChange={(name) => set({ name })}
          />
          <TextField
            label="Language"
            aside="optional"
            path="primaryLanguage"
            hint={notes["primaryLanguage"]?.hint?.replaceAll("`", "")}
            spellCheck={false}
            maxLength={notes["primaryLanguage"]?.maxLength}
            value={draft.primaryLanguage}
            onChange={(primaryLanguage) => set({ primaryLanguage })}
          />
        </Columns>
        <TextField
          label="Description"
          aside="optional"
          path="description"
          maxLength={notes["description"]?.maxLength}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
      </Card>
      <Card title="Provider">
        <SelectField
          label="Provider"
          path="definition"
          hint="Needs an API key of the provider, except for Generic. Set yours on the Provider keys tab of Voices."
          value={draft.kind}
          choices={KINDS.map((value) => ({ value, label: KIND_NAMES[value] }))}
          onChange={(kind) => set({ kind, fields: kind === "generic" ? NEW_VOICE.fields : {} })}
        />
        <VoiceFields
          key={draft.kind}
          kind={draft.kind}
          fields={draft.fields}
          onChange={(fields) => set({ fields })}
        />
        <TryDraft draft={draft} />
      </Card>
    </Form>
  );
}
