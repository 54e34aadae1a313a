/** The account's API keys of voice providers. */

import type { AccountTtsKeys, SetTtsApiKeysRequest, VoiceProvider } from "@parley/schema";
import { useState } from "react";
import { useChange, useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, Card } from "../../ui/display.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Form, Note } from "../../ui/form.tsx";
import { Inline } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { TextAreaField, TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { KIND_NAMES } from "./voice-draft.ts";
import styles from "./voices.module.css";

const PATH = "/api/accounts/me/tts_api_keys";
const PROVIDERS = [
  "provider1",
  "provider2",
  "provider3",
  "provider4",
  "provider5",
  "provider6",
] as const satisfies readonly VoiceProvider[];

export function TtsKeys() {
  const { data, error, refetch } = useRead(PATH, {});
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <div className={styles.list}>
      <Note>
        To use the voices of a provider, set your API key for that provider. Keys are stored encrypted.
      </Note>
      <div className={styles.keys}>
        {PROVIDERS.map((provider) => (
          <OneKey key={provider} provider={provider} stored={data[provider]} />
        ))}
      </div>
    </div>
  );
}

interface OneKeyProps {
  readonly provider: VoiceProvider;
  readonly stored: AccountTtsKeys[VoiceProvider];
}

function OneKey({ provider, stored }: OneKeyProps) {
  const [key, setKey] = useState("");
  const [removing, setRemoving] = useState(false);
  const toast = useToast();
  const set = useChange((api, body: SetTtsApiKeysRequest) => api.fetch("PATCH", PATH, { body }), [PATH]);
  const name = KIND_NAMES[provider];
  const state =
    stored === null ? <Badge>No key</Badge> : <Badge tone="good">Starts with {stored.prefix}</Badge>;
  return (
    <Card title={name} actions={state}>
      <Form
        label={`${name} API key`}
        action={stored === null ? "Set key" : "Replace key"}
        check={() => (key.trim() === "" ? [{ field: provider, message: "is required" }] : [])}
        onSave={async () => {
          await set.mutateAsync({ [provider]: key.trim() });
          setKey("");
          toast(`${name} API key saved.`);
        }}
      >
        <KeyField provider={provider} value={key} onChange={setKey} />
        {stored !== null && (
          <Inline>
            <Button small kind="danger" onClick={() => setRemoving(true)}>
              Remove the API key of {name}
            </Button>
          </Inline>
        )}
      </Form>
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Remove the ${name} API key?`}
        text="Voices of this provider stop working, unless this deployment has a key of its own for it."
        action="Remove key"
        dangerous
        onConfirm={() => set.mutateAsync({ [provider]: null })}
      />
    </Card>
  );
}

interface KeyFieldProps {
  readonly provider: VoiceProvider;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function KeyField({ provider, value, onChange }: KeyFieldProps) {
  if (provider === "provider4") {
    return (
      <TextAreaField
        label="Service account"
        path={provider}
        hint="The complete JSON document."
        mono
        rows={3}
        spellCheck={false}
        value={value}
        onChange={onChange}
      />
    );
  }
  return (
    <TextField
      label="Key"
      path={provider}
      type="password"
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={onChange}
    />
  );
}
