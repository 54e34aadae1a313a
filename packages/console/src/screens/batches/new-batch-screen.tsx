/** A new batch: whose calls, which ones, when and how fast. */

import type { ScheduledCallBatch } from "@parley/schema";
import { useCallback, useEffect, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { useSignedIn, useStale } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { Card, Page, PageHeader } from "../../ui/display.tsx";
import { Columns, Form } from "../../ui/form.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AgentField } from "../agent-field.tsx";
import { NEW_SETTINGS, settingsFaults, settingsOf } from "./batch-draft.ts";
import { type CallsSource, useChecked } from "./calls-source.ts";
import { type BadCall, batchBody, type CheckedCalls } from "./check-calls.ts";
import { BadCalls, CheckedReport } from "./checked-report.tsx";
import { CsvSource } from "./csv-source.tsx";
import { JsonSource } from "./json-source.tsx";
import { refusedCalls } from "./refused-calls.ts";
import { SettingsFields } from "./settings-fields.tsx";
import styles from "./batches.module.css";

/** As `MAX_BATCH_CALLS` and `MAX_BATCH_BYTES` of the interface. */
const MAX_CALLS = 100_000;
const MAX_BYTES = 32 * 1024 * 1024;

const SOURCES = [
  { value: "csv", label: "A table (CSV)" },
  { value: "json", label: "JSON" },
] as const;

export function NewBatchScreen() {
  const [search] = useSearchParams();
  const go = useNavigate();
  const [agentId, setAgentId] = useState(search.get("agent") ?? "");
  const [settings, setSettings] = useState(NEW_SETTINGS);
  const calls = useCalls();
  const create = useCreate();
  const check = () => [
    ...(agentId === "" ? [{ field: "agent", message: "choose whose calls they are" }] : []),
    ...calls.faults(),
    ...settingsFaults(settings),
  ];
  const save = async () => {
    const { texts, indexes } = calls.good();
    calls.setRefused([]);
    try {
      await create({ agentId, settings: JSON.stringify(settingsOf(settings)), texts });
    } catch (error) {
      calls.setRefused(refusedCalls(error, indexes));
      throw error;
    }
  };
  return (
    <Page>
      <PageHeader
        title="New batch"
        back={{ to: "/batches", label: "Batches" }}
        lead="All calls of a batch are made, or none: it is checked here row by row, and once more by the service."
      />
      <Form
        label="Batch"
        action="Create batch"
        onSave={save}
        onCancel={() => void go("/batches")}
        check={check}
      >
        <Card title="Whose calls">
          <AgentField
            label="Agent"
            path="agent"
            hint="Each call begins with this agent as it is then."
            value={agentId}
            onChange={setAgentId}
          />
        </Card>
        <CallsCard calls={calls} />
        <SettingsFields
          draft={settings}
          set={(changes) => setSettings((before) => ({ ...before, ...changes }))}
        />
      </Form>
    </Page>
  );
}

function useCalls() {
  const [kind, setKind] = useState<"csv" | "json">("csv");
  const [source, setSource] = useState<CallsSource | null>(null);
  const [without, setWithout] = useState(false);
  const [refused, setRefused] = useState<readonly BadCall[]>([]);
  const checked = useChecked(source);
  const take = useCallback((next: CallsSource | null) => {
    setSource(next);
    setRefused([]);
  }, []);
  const good = (): CheckedCalls => {
    if (checked.kind !== "done") throw new Error("The calls are not checked yet.");
    return checked.value;
  };
  const faults = () => {
    const fault = (message: string) => [{ field: "calls", message }];
    if (source === null || source.count === 0) return fault("are to be given: choose a file, or paste them");
    if (source.faults.length > 0) return source.faults;
    if (source.count > MAX_CALLS) return fault(`must be at most ${MAX_CALLS.toLocaleString()}`);
    if (checked.kind !== "done") return fault("are still being checked: try again in a moment");
    const { texts, badCount } = checked.value;
    if (badCount > 0 && !without)
      return fault(`${badCount.toLocaleString()} are bad: mend them, or leave them out`);
    if (texts.length === 0) return fault("are all bad");
    if (texts.reduce((sum, text) => sum + text.length + 1, 0) > MAX_BYTES)
      return fault("must be at most 32 MiB");
    return [];
  };
  return { kind, setKind, source, take, checked, without, setWithout, refused, setRefused, good, faults };
}

function CallsCard({ calls }: { readonly calls: ReturnType<typeof useCalls> }) {
  const { kind, source, refused } = calls;
  const told = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that was pressed is far below.
    if (refused.length > 0) told.current?.scrollIntoView({ block: "center" });
  }, [refused]);
  const choose = (chosen: typeof kind) => {
    calls.take(null);
    calls.setKind(chosen);
  };
  return (
    <Card title="Calls" text="Up to 100,000. Nothing leaves this browser before you create the batch.">
      <Columns>
        <SelectField label="From" value={kind} choices={SOURCES} onChange={choose} />
      </Columns>
      {kind === "csv" ? <CsvSource onSource={calls.take} /> : <JsonSource onSource={calls.take} />}
      {source !== null && (
        <CheckedReport
          source={source}
          checked={calls.checked}
          without={calls.without}
          onWithout={calls.setWithout}
        />
      )}
      {source !== null && refused.length > 0 && (
        <div ref={told} className={styles.parts} role="alert">
          <strong>The service refused these calls</strong>
          <BadCalls label="Refused calls" source={source} bad={refused} />
        </div>
      )}
    </Card>
  );
}

interface Attempt {
  readonly agentId: string;
  readonly settings: string;
  readonly texts: readonly string[];
}

/** Sent as it is: a hundred thousand calls are not made one text again, and may take longer than other requests. */
function useCreate() {
  const { send } = useSignedIn();
  const makeStale = useStale();
  const go = useNavigate();
  const toast = useToast();
  // An attempt whose answer was lost may have made the batch: the same once more makes no second one.
  const lost = useRef<(Attempt & { readonly key: string }) | null>(null);
  return async (attempt: Attempt) => {
    const { agentId, settings, texts } = attempt;
    const { current } = lost;
    const same = current?.agentId === agentId && current.settings === settings && current.texts === texts;
    const key = same ? current.key : newKey();
    lost.current = { ...attempt, key };
    const response = await send("POST", `/api/agents/${encodeURIComponent(agentId)}/scheduled_batches`, {
      body: batchBody(settings, texts),
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    });
    lost.current = null;
    if (!response.ok) throw await refusalOf(response);
    const batch = (await response.json()) as ScheduledCallBatch;
    await makeStale("/api/agents");
    toast(`The batch is there with ${batch.totalCount.toLocaleString()} calls.`);
    await go(`/batches/${agentId}/${batch.batchId}`);
  };
}

/** `crypto.randomUUID` is not there for pages that came by plain http from another machine. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
