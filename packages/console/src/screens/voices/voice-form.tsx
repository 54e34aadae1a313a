/** The whole of an own voice. */

import { notes } from "virtual:field-notes/VoiceWrite";
import { useState } from "react";
import { Card } from "../../ui/display.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { Columns, Form, Notice } from "../../ui/form.tsx";
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
  const check = () => (draft.name.trim() === "" ? [{ field: "name", message: "must not be empty" }] : []);
  return (
    <Form label="Voice" action={action} onCancel={onCancel} check={check} onSave={() => onSave(draft)}>
      <Card title="What it is">
        <Columns>
          <Field label="Name" path="name" hint="Agents refer to it by this name.">
            <TextInput
              maxLength={notes["name"]?.maxLength}
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          </Field>
          <Field
            label="Language"
            aside="optional"
            path="primaryLanguage"
            hint={notes["primaryLanguage"]?.hint?.replaceAll("`", "")}
          >
            <TextInput
              spellCheck={false}
              maxLength={notes["primaryLanguage"]?.maxLength}
              value={draft.primaryLanguage}
              onChange={(event) => set({ primaryLanguage: event.target.value })}
            />
          </Field>
        </Columns>
        <Field label="Description" aside="optional" path="description">
          <TextInput
            maxLength={notes["description"]?.maxLength}
            value={draft.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </Field>
      </Card>
      <Card title="Who speaks">
        <Field
          label="Provider"
          path="definition"
          hint="Providers speak with the account's own key, which is set under Voices, Keys of providers."
        >
          <Select
            value={draft.kind}
            choices={KINDS.map((value) => ({ value, label: KIND_NAMES[value] }))}
            onChange={(chosen) => {
              const kind = KINDS.find((each) => each === chosen) ?? "generic";
              set({ kind, fields: kind === "generic" ? NEW_VOICE.fields : {} });
            }}
          />
        </Field>
        <VoiceFields
          key={draft.kind}
          kind={draft.kind}
          fields={draft.fields}
          onChange={(fields) => set({ fields })}
        />
        <Notice>
          Own voices are stored already, but this version does not speak with providers yet: only the voices
          of the deployment are heard.
        </Notice>
        <TryDraft draft={draft} />
      </Card>
    </Form>
  );
}
