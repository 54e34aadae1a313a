/** The secrets that sign a webhook's requests, several during a rotation. */

import type { Webhook } from "@parley/schema";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Form, Note } from "../../ui/form.tsx";
import { Secret } from "../../ui/secret.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./webhooks.module.css";

const MAX_SECRETS = 10;
/** 32 bytes cannot be guessed. */
const SECRET_BYTES = 32;

function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function Secrets({ webhook }: { readonly webhook: Webhook }) {
  const { webhookId, secrets } = webhook;
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<number | null>(null);
  const toast = useToast();
  const set = useChange(
    (api, next: readonly string[]) =>
      api.fetch("PATCH", "/api/webhooks/{webhook_id}", {
        params: { webhook_id: webhookId },
        body: { secrets: [...next] },
      }),
    ["/api/webhooks"],
  );
  return (
    <Card
      title="Secrets"
      text="Each request is signed with every secret."
      actions={
        secrets.length < MAX_SECRETS && (
          <Button onClick={() => setAdding(true)}>
            <Plus aria-hidden="true" /> Add secret
          </Button>
        )
      }
    >
      <Note>
        To rotate secrets without downtime, add a new secret, update your receivers, and then remove the old
        secret.
      </Note>
      <div className={styles.parts}>
        {secrets.map((secret, index) => (
          <Secret key={secret} secret={secret} name={`secret ${String(index + 1)}`}>
            {secrets.length > 1 && (
              <IconButton
                label={`Remove secret ${String(index + 1)}`}
                icon={<Trash2 aria-hidden="true" />}
                small
                onClick={() => setRemoving(index)}
              />
            )}
          </Secret>
        ))}
      </div>
      <AddSecret
        open={adding}
        onClose={() => setAdding(false)}
        onAdd={async (secret) => {
          await set.mutateAsync([...secrets, secret]);
          toast("Secret added. Requests are now signed with it, too.");
        }}
      />
      <Confirm
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title="Remove this secret?"
        text="Receivers that use this secret can no longer verify requests."
        action="Remove secret"
        dangerous
        onConfirm={() => set.mutateAsync(secrets.filter((_, index) => index !== removing))}
      />
    </Card>
  );
}

interface AddSecretProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onAdd: (secret: string) => Promise<void>;
}

function AddSecret({ open, onClose, onAdd }: AddSecretProps) {
  const [secret, setSecret] = useState(newSecret);
  return (
    <Dialog open={open} onClose={onClose} title="Add secret" text="Use this new secret, or enter your own.">
      <Form
        label="Secret"
        action="Add secret"
        onCancel={onClose}
        check={() => (secret === "" ? [{ field: "secret", message: "is required" }] : [])}
        onSave={async () => {
          await onAdd(secret);
          setSecret(newSecret());
          onClose();
        }}
      >
        <TextField
          label="Secret"
          path="secret"
          hint="At most 120 characters."
          spellCheck={false}
          maxLength={120}
          value={secret}
          onChange={setSecret}
        />
      </Form>
    </Dialog>
  );
}
