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
    const named = name.trim() === "" ? [{ field: "name", message: "is required" }] : [];
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
        hint="For example, the program or person that uses the key."
        maxLength={50}
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Scope"
        path="scopes"
        hint="Choose only the access that is needed."
        value={scope}
        choices={CHOICES}
        onChange={setScope}
      />
      <TextField
        label="Expires"
        aside="optional, local time"
        path="expiryDate"
        hint="The key stops working at this time. You cannot change this later."
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
        Copy key now. You cannot see it again. Anyone with this key has{" "}
        {made.scopes === null ? "full access to the account" : `the scope ${made.scopes.join(", ")}`}.
      </Notice>
      <Inline>
        <CodeBlock label="New API key">{made.secret}</CodeBlock>
        <CopyButton text={made.secret} label="Copy the key" />
      </Inline>
      <p>
        {made.name} expires: <When at={made.expiryDate} />
      </p>
      <Inline>
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </Inline>
    </>
  );
}
