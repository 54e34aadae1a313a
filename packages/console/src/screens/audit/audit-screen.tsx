/** The audit log: who changed what, when and from where. */

import type { AuditEntry } from "@parley/schema";
import { ScrollText } from "lucide-react";
import { useState } from "react";
import { usePages } from "../../data/pages.ts";
import { Badge, Page, PageHeader, Toolbar } from "../../ui/display.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useSearchText } from "../search-text.ts";
import { actorOf, operationWords } from "./audit-words.ts";
import styles from "./audit.module.css";

const RESULTS = [
  { value: "", label: "All results" },
  { value: "done", label: "Succeeded" },
  { value: "refused", label: "Denied" },
] as const;

type Result = (typeof RESULTS)[number]["value"];

export function AuditScreen() {
  const operation = useSearchText();
  const target = useSearchText();
  const key = useSearchText();
  const [result, setResult] = useState<Result>("");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const query = {
    ...(operation.wanted === "" ? {} : { operation: operation.wanted }),
    ...(target.wanted === "" ? {} : { targetId: target.wanted }),
    // The service refuses a part of a prefix.
    ...(/^[a-zA-Z0-9]{8}$/.test(key.wanted) ? { keyPrefix: key.wanted } : {}),
    ...(result === "" ? {} : { result }),
    ...(from === "" ? {} : { fromDate: from }),
    ...(to === "" ? {} : { toDate: to }),
  };
  const pages = usePages("/api/audit_log", { query });
  const isFiltered = Object.keys(query).length > 0;
  return (
    <Page>
      <PageHeader title="Audit log" lead="Changes to this account, including attempts that were denied." />
      <Toolbar>
        <div className={styles.filters}>
          <TextField
            label="Operation"
            placeholder="deleteAgent"
            spellCheck={false}
            value={operation.text}
            onChange={operation.setText}
          />
          <TextField label="Target ID" spellCheck={false} value={target.text} onChange={target.setText} />
          <TextField
            label="API key starts with"
            placeholder="8 characters"
            maxLength={8}
            spellCheck={false}
            value={key.text}
            onChange={key.setText}
          />
          <SelectField label="Result" value={result} choices={RESULTS} onChange={setResult} />
          <TextField label="From" aside="UTC" type="date" value={from} onChange={setFrom} />
          <TextField label="To" aside="UTC" type="date" value={to} onChange={setTo} />
        </div>
      </Toolbar>
      <PagedTable
        label="Audit log"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ entryId }) => entryId}
        empty={
          isFiltered ? (
            <Empty icon={<ScrollText aria-hidden="true" />} title="No matching entries" />
          ) : (
            <Empty icon={<ScrollText aria-hidden="true" />} title="No changes yet">
              Changes to agents, tools, API keys, webhooks and settings appear here.
            </Empty>
          )
        }
      />
    </Page>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: "created", label: "Time", cell: ({ created }) => <When at={created} seconds /> },
  { id: "who", label: "Actor", cell: (entry) => <Actor entry={entry} /> },
  {
    id: "operation",
    label: "Action",
    cell: ({ operation }) => <span title={operation}>{operationWords(operation)}</span>,
  },
  { id: "target", label: "Target", cell: (entry) => <Target entry={entry} /> },
  { id: "address", label: "IP address", cell: ({ clientAddress }) => clientAddress ?? "–" },
  { id: "result", label: "Result", cell: (entry) => <Outcome entry={entry} /> },
];

function Actor({ entry }: { readonly entry: AuditEntry }) {
  const { name, prefix } = actorOf(entry);
  return (
    <div>
      {name}
      {prefix !== null && (
        <div className={styles.small}>
          <code>{prefix}…</code>
        </div>
      )}
    </div>
  );
}

function Target({ entry: { targetId, targetName } }: { readonly entry: AuditEntry }) {
  if (targetId === null) return <>–</>;
  return (
    <div>
      {targetName}
      <div className={styles.small}>
        <code>{targetId}</code>
      </div>
    </div>
  );
}

function Outcome({ entry: { result, code } }: { readonly entry: AuditEntry }) {
  if (result === "done") return <Badge tone="good">Succeeded</Badge>;
  return (
    <div>
      <Badge tone="bad">Denied</Badge>
      <div className={styles.small}>
        <code>{code}</code>
      </div>
    </div>
  );
}
