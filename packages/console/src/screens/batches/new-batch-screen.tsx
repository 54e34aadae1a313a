/** The form for a new batch: agent, calls, schedule and limits. */

import { useCallback, useEffect, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { useRead } from "../../data/api.tsx";
import { Card, Page, PageHeader } from "../../ui/display.tsx";
import { Columns, Form, Notice } from "../../ui/form.tsx";
import { sizeText } from "../../ui/file-field.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { AgentField, useAgentNames } from "../agent-field.tsx";
import { suggestedName } from "./batch-state.ts";
import { NEW_SETTINGS, settingsFaults, settingsOf } from "./batch-draft.ts";
import { type CallsSource, useChecked } from "./calls-source.ts";
import { type BadCall, batchBody, type CheckedCalls } from "./check-calls.ts";
import { BadCalls, CheckedReport } from "./checked-report.tsx";
import { CsvSource } from "./csv-source.tsx";
import { JsonSource } from "./json-source.tsx";
import { refusedCalls } from "./refused-calls.ts";
import { SendingCalls, useCreate } from "./sending.tsx";
import { NameField, SettingsFields } from "./settings-fields.tsx";
import styles from "./batches.module.css";

/** Like `MAX_BATCH_CALLS` and `MAX_BATCH_BYTES` of the schema. */
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
  // Null: nobody has changed the suggestion.
  const [typedName, setTypedName] = useState<string | null>(null);
  const agentName = useAgentNames().get(agentId);
  const name = typedName ?? suggestedName(agentName, Date.now());
  const calls = useCalls();
  const { create, sending } = useCreate();
  const check = () => [
    ...(agentId === "" ? [{ field: "agent", message: "is required" }] : []),
    ...calls.faults(),
    ...settingsFaults(settings),
  ];
  const save = async () => {
    const { texts, indexes } = calls.good();
    calls.setRefused([]);
    try {
      await create({ agentId, settings: JSON.stringify(settingsOf({ ...settings, name })), texts });
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
        lead="If a call has an error, no call of the batch is created."
      />
      <Form
        label="Batch"
        action="Create batch"
        onSave={save}
        onCancel={() => void go("/batches")}
        check={check}
      >
        <NameField name={name} onChange={setTypedName}>
          <AgentField
            label="Agent"
            path="agent"
            hint="Each call uses the version of the agent that is current when the call is created."
            placeholder="Choose an agent"
            value={agentId}
            onChange={setAgentId}
          />
        </NameField>
        {agentId !== "" && <MediumNotice agentId={agentId} />}
        <CallsCard calls={calls} />
        <SettingsFields
          draft={settings}
          set={(changes) => setSettings((before) => ({ ...before, ...changes }))}
        />
        {sending !== null && <SendingCalls sending={sending} />}
      </Form>
    </Page>
  );
}

/** Calls without a medium of their own get that of the agent. */
function MediumNotice({ agentId }: { readonly agentId: string }) {
  const { data } = useRead("/api/agents/{agent_id}", { params: { agent_id: agentId } });
  const medium = data?.callTemplate?.medium;
  if (medium === undefined || medium === null || !("sip" in medium)) return null;
  return (
    <Notice tone="warn">
      This agent makes SIP calls. They need the setting SIP_HOST of the service, and the operator allows each
      account to use them. Without both, the batch is paused.
    </Notice>
  );
}

function useCalls() {
  const [kind, setKind] = useState<"csv" | "json">("csv");
  const [source, setSource] = useState<CallsSource | null>(null);
  const [without, setWithout] = useState(false);
  const [refused, setRefused] = useState<readonly BadCall[]>([]);
  const checked = useChecked(source);
  const take = useCallback((next: CallsSource | null) => {
    setSource(next === null ? null : withinLimit(next));
    setRefused([]);
  }, []);
  const good = (): CheckedCalls => {
    if (checked.kind !== "done") throw new Error("The calls have not been checked yet.");
    return checked.value;
  };
  const faults = () => {
    const fault = (message: string) => [{ field: "calls", message }];
    if (source === null || source.count === 0) return fault("choose a file or paste rows");
    if (source.faults.length > 0) return source.faults;
    if (checked.kind !== "done") return fault("wait until all calls are checked");
    const { texts, badCount } = checked.value;
    if (badCount > 0 && !without) return fault(`fix or skip ${callsText(badCount)} with errors`);
    if (texts.length === 0) return fault("all calls have errors");
    const { size } = batchBody("{}", texts);
    if (size > MAX_BYTES)
      return fault(
        `must have at most ${sizeText(MAX_BYTES)}, but have ${sizeText(size)}. Create several batches`,
      );
    return [];
  };
  return { kind, setKind, source, take, checked, without, setWithout, refused, setRefused, good, faults };
}

function callsText(count: number): string {
  return count === 1 ? "1 call" : `${count.toLocaleString()} calls`;
}

/** Too many calls for a batch are not checked first. */
function withinLimit(source: CallsSource): CallsSource {
  if (source.count <= MAX_CALLS) return source;
  const message = `must be at most ${MAX_CALLS.toLocaleString()}. Create several batches`;
  return { ...source, faults: [{ field: "calls", message }, ...source.faults] };
}

function CallsCard({ calls }: { readonly calls: ReturnType<typeof useCalls> }) {
  const { kind, source, refused } = calls;
  const report = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button is far below the message.
    if (refused.length > 0) report.current?.scrollIntoView({ block: "center" });
  }, [refused]);
  const choose = (chosen: typeof kind) => {
    calls.take(null);
    calls.setKind(chosen);
  };
  return (
    <Card
      title="Calls"
      text="Up to 100,000. Calls are checked in your browser and sent when you create the batch."
    >
      <Columns>
        <SelectField label="Source" value={kind} choices={SOURCES} onChange={choose} />
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
        <div ref={report} className={styles.parts} role="alert">
          <strong>These calls were rejected</strong>
          <BadCalls label="Rejected calls" source={source} bad={refused} />
        </div>
      )}
    </Card>
  );
}
