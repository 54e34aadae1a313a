import type { ApiKeyCreate, ApiKeyCreated, Scope } from "@parley/schema";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { SCOPE_WORDS, SCOPES } from "../../data/scopes.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Form, Notice } from "../../ui/form.tsx";
import { CodeBlock, Inline, When } from "../../ui/parts.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";

const CHOICES = SCOPES.map((value) => ({ value, label: SCOPE_WORDS[value] })).toReversed();

export interface NewKeyFormProps {
  readonly onMade: (made: ApiKeyCreated) => void;
  readonly onCancel: () => void;
}

export function NewKeyForm({ onMade, onCancel }: NewKeyFormProps) {
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState("");
  const [scope, setScope] = useState<Scope>("admin");
  const make = useChange(
    (api, body: ApiKeyCreate) => api.fetch("POST", "/api/api_keys", { body }),
    ["/api/api_keys"],
  );
  const check = () => {
    const named = name.trim() === "" ? [{ field: "name", message: "must not be empty" }] : [];
    const past = expiry !== "" && !(new Date(expiry).getTime() > Date.now());
    return past ? [...named, { field: "expiryDate", message: "must be in the future" }] : named;
  };
  const save = async () => {
    const expiryDate = expiry === "" ? {} : { expiryDate: new Date(expiry).toISOString() };
    // A key that may do everything has no scopes.
    const scopes = scope === "admin" ? {} : { scopes: [scope] };
    onMade(await make.mutateAsync({ name, ...expiryDate, ...scopes }));
  };
  return (
    <Form label="New API key" action="Create key" onSave={save} onCancel={onCancel} check={check}>
      <TextField
        label="Name"
        path="name"
        hint="Who uses it, such as a program or a person."
        maxLength={50}
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Scope"
        path="scopes"
        hint="Give a program no more than it needs."
        value={scope}
        choices={CHOICES}
        onChange={setScope}
      />
      <TextField
        label="Expires"
        aside="optional, your time"
        path="expiryDate"
        hint="The key stops working then. You cannot change this later."
        type="datetime-local"
        value={expiry}
        onChange={setExpiry}
      />
    </Form>
  );
}

export function NewKeyShown({ made, onDone }: { readonly made: ApiKeyCreated; readonly onDone: () => void }) {
  return (
    <>
      <Notice tone="warn">
        This is the only time that the whole key is shown. Anyone who has it can use it:{" "}
        {made.scopes === null ? "it may do everything" : `its scope is ${made.scopes.join(", ")}`}.
      </Notice>
      <Inline>
        <CodeBlock label="The new key">{made.secret}</CodeBlock>
        <CopyButton text={made.secret} label="Copy the key" />
      </Inline>
      <p>
        {made.name}, expires: <When at={made.expiryDate} />
      </p>
      <Inline>
        <Button kind="primary" onClick={onDone}>
          I have copied it
        </Button>
      </Inline>
    </>
  );
}
