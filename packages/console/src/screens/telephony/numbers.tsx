/** The numbers of the account and the agents that answer them. */

import type { PhoneNumber, PhoneNumberWrite } from "@parley/schema";
import { Hash, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { Badge, Card } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AgentField, useAgentNames } from "../agent-field.tsx";
import { carriersAllowing, carrierName, useCarrierConfigs } from "../carriers.ts";
import { ReachableNotice } from "../reachable-notice.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { CallUrls } from "./call-urls.tsx";
import styles from "./telephony.module.css";

const PATH = "/api/phone_numbers";

export function Numbers() {
  const pages = usePages(PATH, {});
  const [edited, setEdited] = useState<PhoneNumber | "new" | null>(null);
  const [doomed, setDoomed] = useState<PhoneNumber | null>(null);
  const close = () => setEdited(null);
  const create = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setEdited("new")}>
      <Plus aria-hidden="true" /> Add number
    </ScopedButton>
  );
  return (
    <div className={styles.parts}>
      <ReachableNotice />
      <Card title="URL for carriers" text="Paste it at the carrier for each number.">
        <CallUrls />
      </Card>
      {(pages.rows?.length ?? 0) > 0 && <div className={styles.end}>{create}</div>}
      <PagedTable
        label="Numbers"
        pages={pages}
        columns={columnsWith(setEdited, setDoomed)}
        keyOf={({ number }) => number}
        empty={
          <Empty icon={<Hash aria-hidden="true" />} title="No numbers yet" actions={create}>
            Assign a number to an agent. The agent then answers calls to it.
          </Empty>
        }
      />
      <Dialog
        open={edited !== null}
        onClose={close}
        title={edited === "new" ? "Add number" : "Change number"}
        text="A number is answered by one agent."
      >
        <NumberForm number={edited === "new" ? null : edited} onDone={close} />
      </Dialog>
      <RemoveNumber number={doomed} onClose={() => setDoomed(null)} />
    </div>
  );
}

function columnsWith(
  onEdit: (number: PhoneNumber) => void,
  onDelete: (number: PhoneNumber) => void,
): readonly Column<PhoneNumber>[] {
  return [
    { id: "number", label: "Number", cell: ({ number }) => <strong>{number}</strong> },
    { id: "agent", label: "Agent", cell: ({ agentId }) => <AgentName agentId={agentId} /> },
    { id: "carriers", label: "Carriers", cell: ({ agentId }) => <AllowedThrough agentId={agentId} /> },
    { id: "created", label: "Added", cell: ({ created }) => <When at={created} /> },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: (number) => (
        <>
          <IconButton
            label={`Change ${number.number}`}
            icon={<Pencil aria-hidden="true" />}
            small
            onClick={() => onEdit(number)}
          />
          <IconButton
            label={`Remove ${number.number}`}
            icon={<Trash2 aria-hidden="true" />}
            small
            onClick={() => onDelete(number)}
          />
        </>
      ),
    },
  ];
}

/** Text, because on phones a link would be too close to the buttons of the row. */
function AgentName({ agentId }: Pick<PhoneNumber, "agentId">) {
  const names = useAgentNames();
  return <>{names.get(agentId) ?? agentId}</>;
}

/** The carriers that may call the agent; without one, callers hear an error. */
function AllowedThrough({ agentId }: Pick<PhoneNumber, "agentId">) {
  const { data } = useCarrierConfigs();
  if (data === undefined) return null;
  const carriers = carriersAllowing(data, agentId);
  if (carriers.length > 0) return carriers.map(carrierName).join(", ");
  return <Badge tone="warn">No carrier allows this agent</Badge>;
}

interface NumberFormProps {
  /** Null: a new one. */
  readonly number: PhoneNumber | null;
  readonly onDone: () => void;
}

function NumberForm({ number: stored, onDone }: NumberFormProps) {
  const [number, setNumber] = useState(stored?.number ?? "");
  const [agentId, setAgentId] = useState(stored?.agentId ?? "");
  const toast = useToast();
  const save = useChange((api, body: PhoneNumberWrite) => api.fetch("POST", PATH, { body }), [PATH]);
  const check = () => [
    ...(number.trim() === "" ? [{ field: "number", message: "is required" }] : []),
    ...(agentId === "" ? [{ field: "agentId", message: "is required" }] : []),
  ];
  return (
    <Form
      label="Number"
      action="Save number"
      onCancel={onDone}
      check={check}
      onSave={async () => {
        const saved = await save.mutateAsync({ number, agentId });
        toast(`${saved.number} saved.`);
        onDone();
      }}
    >
      <TextField
        label="Number"
        path="number"
        hint="With the country code. If the number has an agent already, the new agent replaces it."
        type="tel"
        autoComplete="off"
        maxLength={256}
        placeholder="+4930123456"
        disabled={stored !== null}
        value={number}
        onChange={setNumber}
      />
      <AgentField
        label="Agent"
        path="agentId"
        placeholder="Choose an agent"
        value={agentId}
        onChange={setAgentId}
      />
    </Form>
  );
}

interface RemoveProps {
  readonly number: PhoneNumber | null;
  readonly onClose: () => void;
}

function RemoveNumber({ number, onClose }: RemoveProps) {
  const toast = useToast();
  const remove = useChange(
    (api, text: string) => api.fetch("DELETE", `${PATH}/{number}`, { params: { number: text } }),
    [PATH],
  );
  return (
    <Confirm
      open={number !== null}
      onClose={onClose}
      title={`Remove ${number?.number ?? ""}?`}
      text="Callers of the number then hear that nobody answers it."
      action="Remove number"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(number?.number ?? "");
        toast("Number removed.");
      }}
    />
  );
}
