/** Call throttles: limits on how many calls may be created in a time. */

import type { CallThrottle, CallThrottleWrite } from "@parley/schema";
import { Gauge, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Fieldset, Form } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import styles from "./telephony.module.css";

const PATH = "/api/call_throttles";
const MAX_RULES = 10;

function columnsWith(
  onEdit: (throttle: CallThrottle) => void,
  onDelete: (throttle: CallThrottle) => void,
): readonly Column<CallThrottle>[] {
  return [
    { id: "name", label: "Name", cell: ({ name }) => <strong>{name}</strong> },
    {
      id: "rules",
      label: "Rules",
      cell: ({ rules }) =>
        rules
          .map(({ maxCalls, windowSeconds }) => `${String(maxCalls)} in ${String(windowSeconds)} s`)
          .join(", "),
    },
    { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: (throttle) => (
        <>
          <IconButton
            label={`Edit ${throttle.name}`}
            icon={<Pencil aria-hidden="true" />}
            small
            onClick={() => onEdit(throttle)}
          />
          <IconButton
            label={`Delete ${throttle.name}`}
            icon={<Trash2 aria-hidden="true" />}
            small
            onClick={() => onDelete(throttle)}
          />
        </>
      ),
    },
  ];
}

export function Throttles() {
  const pages = usePages(PATH, {});
  const [edited, setEdited] = useState<CallThrottle | "new" | null>(null);
  const [doomed, setDoomed] = useState<CallThrottle | null>(null);
  const toast = useToast();
  const remove = useChange(
    (api, id: string) => api.fetch("DELETE", `${PATH}/{throttle_id}`, { params: { throttle_id: id } }),
    [PATH],
  );
  const create = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setEdited("new")}>
      <Plus aria-hidden="true" /> New throttle
    </ScopedButton>
  );
  return (
    <div className={styles.parts}>
      {(pages.rows?.length ?? 0) > 0 && <div className={styles.end}>{create}</div>}
      <PagedTable
        label="Throttles"
        pages={pages}
        columns={columnsWith(setEdited, setDoomed)}
        keyOf={({ throttleId }) => throttleId}
        empty={
          <Empty icon={<Gauge aria-hidden="true" />} title="No throttles yet" actions={create}>
            A throttle limits how fast calls are created. You can use it for calls and batches.
          </Empty>
        }
      />
      <Dialog
        open={edited !== null}
        onClose={() => setEdited(null)}
        title={edited === "new" ? "New throttle" : "Edit throttle"}
        text="A call is created only if all rules allow it."
      >
        <ThrottleForm throttle={edited === "new" ? null : edited} onDone={() => setEdited(null)} />
      </Dialog>
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        title={`Delete ${doomed?.name ?? ""}?`}
        text="Requests that use this throttle fail. You cannot undo this."
        action="Delete throttle"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(doomed?.throttleId ?? "");
          toast("Throttle deleted.");
        }}
      />
    </div>
  );
}

/** Numbers as typed. */
interface RuleDraft {
  readonly maxCalls: string;
  readonly windowSeconds: string;
}

interface ThrottleFormProps {
  readonly throttle: CallThrottle | null;
  readonly onDone: () => void;
}

function ThrottleForm({ throttle, onDone }: ThrottleFormProps) {
  const [name, setName] = useState(throttle?.name ?? "");
  const [rules, setRules] = useState<readonly RuleDraft[]>(() =>
    (throttle?.rules ?? [{ maxCalls: 1, windowSeconds: 1 }]).map((rule) => ({
      maxCalls: String(rule.maxCalls),
      windowSeconds: String(rule.windowSeconds),
    })),
  );
  const toast = useToast();
  const save = useChange<CallThrottleWrite, unknown>(
    (api, body) =>
      throttle === null
        ? api.fetch("POST", PATH, { body })
        : api.fetch("PUT", `${PATH}/{throttle_id}`, { params: { throttle_id: throttle.throttleId }, body }),
    [PATH],
  );
  const check = () => [
    ...(name.trim() === "" ? [{ field: "name", message: "is required" }] : []),
    ...rules.flatMap((rule, index) => [
      ...wholeFault(`rules.${String(index)}.maxCalls`, rule.maxCalls, 100),
      ...wholeFault(`rules.${String(index)}.windowSeconds`, rule.windowSeconds, 86_400),
    ]),
  ];
  return (
    <Form
      label="Throttle"
      action="Save throttle"
      onCancel={onDone}
      check={check}
      onSave={async () => {
        const numbers = rules.map((rule) => ({
          maxCalls: Number(rule.maxCalls),
          windowSeconds: Number(rule.windowSeconds),
        }));
        await save.mutateAsync({ name, rules: numbers });
        toast("Throttle saved.");
        onDone();
      }}
    >
      <TextField
        label="Name"
        path="name"
        hint="Used in requests and batches."
        maxLength={64}
        value={name}
        onChange={setName}
      />
      <RuleFields rules={rules} onChange={setRules} />
    </Form>
  );
}

interface RuleFieldsProps {
  readonly rules: readonly RuleDraft[];
  readonly onChange: (rules: readonly RuleDraft[]) => void;
}

function RuleFields({ rules, onChange }: RuleFieldsProps) {
  return (
    <Fieldset legend="Rules">
      <RowsEditor
        noun="rule"
        rows={rules}
        min={1}
        max={MAX_RULES}
        fresh={() => ({ maxCalls: "10", windowSeconds: "60" })}
        onChange={onChange}
      >
        {(rule, change, index) => (
          <div className={styles.pair}>
            <TextField
              label="Calls"
              aside="1 to 100"
              path={`rules.${String(index)}.maxCalls`}
              inputMode="numeric"
              value={rule.maxCalls}
              onChange={(maxCalls) => change({ ...rule, maxCalls })}
            />
            <TextField
              label="In seconds"
              aside="up to 86400"
              path={`rules.${String(index)}.windowSeconds`}
              inputMode="numeric"
              value={rule.windowSeconds}
              onChange={(windowSeconds) => change({ ...rule, windowSeconds })}
            />
          </div>
        )}
      </RowsEditor>
    </Fieldset>
  );
}

function wholeFault(field: string, text: string, max: number) {
  const number = Number(text);
  const good = text.trim() !== "" && Number.isInteger(number) && number >= 1 && number <= max;
  return good ? [] : [{ field, message: `must be a whole number from 1 to ${String(max)}` }];
}
