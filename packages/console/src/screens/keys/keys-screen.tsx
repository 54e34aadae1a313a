/** API keys: shown once, revoked permanently. */

import type { ApiKey, ApiKeyCreated } from "@parley/schema";
import { KeyRound, MoreHorizontal, OctagonX, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { usePages } from "../../data/pages.ts";
import { useChange, useSignedIn } from "../../data/api.tsx";
import { IconButton } from "../../ui/button.tsx";
import { ScopedButton, ScopedMenuItem } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Menu, MenuSeparator } from "../../ui/menu.tsx";
import { Inline, When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { NewKeyForm, NewKeyShown } from "./new-key.tsx";

const PATH = "/api/api_keys";

/** Whether this browser is signed in with the key. */
function useIsOwn({ prefix }: ApiKey): boolean {
  return useSignedIn().keyPrefix === prefix;
}

function NameOf({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <Inline>
      <strong>{apiKey.name}</strong>
      {useIsOwn(apiKey) && <Badge tone="agent">This browser</Badge>}
    </Inline>
  );
}

function StateOf({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.revoked) return <Badge tone="bad">Revoked</Badge>;
  const { expiryDate } = apiKey;
  const over = expiryDate !== null && Date.parse(expiryDate) <= Date.now();
  return over ? <Badge tone="warn">Expired</Badge> : <Badge tone="good">Active</Badge>;
}

function ScopesOf({ scopes }: Pick<ApiKey, "scopes">) {
  if (scopes === null) return <>Full access</>;
  return (
    <Inline>
      {scopes.map((scope) => (
        <Badge key={scope}>{scope}</Badge>
      ))}
    </Inline>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    id: "name",
    label: "Name",
    cell: (apiKey) => <NameOf apiKey={apiKey} />,
  },
  { id: "prefix", label: "Starts with", cell: ({ prefix }) => <code>{prefix}…</code> },
  { id: "state", label: "State", cell: (apiKey) => <StateOf apiKey={apiKey} /> },
  { id: "scopes", label: "Scope", cell: ({ scopes }) => <ScopesOf scopes={scopes} /> },
  { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
  { id: "expiry", label: "Expires", cell: ({ expiryDate }) => <When at={expiryDate} /> },
  { id: "actions", label: "Actions", actions: true, cell: (apiKey) => <Actions apiKey={apiKey} /> },
];

export function KeysScreen() {
  const pages = usePages(PATH, {});
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<ApiKeyCreated | null>(null);
  const close = () => {
    setMaking(false);
    setMade(null);
  };
  const create = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden="true" /> New API key
    </ScopedButton>
  );
  return (
    <Page>
      <PageHeader
        title="API keys"
        lead="Programs and people use API keys to access this account. Create a separate key for each, so that you can revoke it."
        actions={create}
      />
      <PagedTable
        label="API keys"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ prefix }) => prefix}
        empty={<Empty icon={<KeyRound aria-hidden="true" />} title="No API keys yet" actions={create} />}
      />
      <Dialog
        open={making}
        onClose={close}
        title={made === null ? "New API key" : "Your new API key"}
        {...(made === null
          ? { text: "Choose what the key can do. You cannot change this later." }
          : { text: "Copy the key now. It is not shown again." })}
      >
        {made === null ? (
          <NewKeyForm onMade={setMade} onCancel={close} />
        ) : (
          <NewKeyShown made={made} onDone={close} />
        )}
      </Dialog>
    </Page>
  );
}

function Actions({ apiKey }: { readonly apiKey: ApiKey }) {
  const [asked, setAsked] = useState<"revoke" | "delete" | null>(null);
  const { name, revoked } = apiKey;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${name}`} icon={<MoreHorizontal aria-hidden="true" />} small />
        }
      >
        <ScopedMenuItem
          needs="admin"
          icon={<OctagonX aria-hidden="true" />}
          disabled={revoked}
          dangerous
          onSelect={() => setAsked("revoke")}
        >
          Revoke
        </ScopedMenuItem>
        <MenuSeparator />
        <ScopedMenuItem
          needs="admin"
          icon={<Trash2 aria-hidden="true" />}
          dangerous
          onSelect={() => setAsked("delete")}
        >
          Delete
        </ScopedMenuItem>
      </Menu>
      <Ask apiKey={apiKey} asked={asked} onClose={() => setAsked(null)} />
    </>
  );
}

interface AskProps {
  readonly apiKey: ApiKey;
  readonly asked: "revoke" | "delete" | null;
  readonly onClose: () => void;
}

function Ask({ apiKey, asked, onClose }: AskProps) {
  const toast = useToast();
  const params = { api_key_prefix: apiKey.prefix };
  const revoke = useChange<null, unknown>(
    (api) => api.fetch("PATCH", `${PATH}/{api_key_prefix}`, { params, body: { revoked: true } }),
    [PATH],
  );
  const remove = useChange<null, unknown>(
    (api) => api.fetch("DELETE", `${PATH}/{api_key_prefix}`, { params }),
    [PATH],
  );
  const own = useIsOwn(apiKey) ? " You are signed in with this key and will be signed out." : "";
  return (
    <>
      <Confirm
        open={asked === "revoke"}
        onClose={onClose}
        title={`Revoke ${apiKey.name}?`}
        text={`The key stops working immediately. You cannot undo this.${own}`}
        action="Revoke key"
        dangerous
        onConfirm={async () => {
          await revoke.mutateAsync(null);
          toast(`${apiKey.name} revoked.`);
        }}
      />
      <Confirm
        open={asked === "delete"}
        onClose={onClose}
        title={`Delete ${apiKey.name}?`}
        text={`The key stops working immediately and is removed from the list. You cannot undo this.${own}`}
        action="Delete key"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(null);
          toast(`${apiKey.name} deleted.`);
        }}
      />
    </>
  );
}
