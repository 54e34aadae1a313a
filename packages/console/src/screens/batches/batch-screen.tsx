/** One batch: its progress, its calls and its settings. */

import type { ScheduledCallBatch } from "@parley/schema";
import { Pause, Play, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useChange, useRead, useStale } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, KeyValue, Page, PageHeader } from "../../ui/display.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Form, Notice } from "../../ui/form.tsx";
import { Progress, When } from "../../ui/parts.tsx";
import { Secret } from "../../ui/secret.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAgentNames } from "../agent-field.tsx";
import { draftOf, limitsOf, patchOf, settingsFaults } from "./batch-draft.ts";
import { type BatchIds, stateOf, titleOf } from "./batch-state.ts";
import { BATCHES, StateBadge } from "./batches-screen.tsx";
import { Counts, CreatedCalls, ScheduledCalls } from "./scheduled-calls.tsx";
import { NameField, SettingsFields } from "./settings-fields.tsx";
import { useThrottles } from "./throttles.ts";
import styles from "./batches.module.css";

const BACK = { to: "/batches", label: "Batches" };
export const BATCH = `${BATCHES}/{batch_id}` as const;
/** Polling interval while calls are created. An ended batch does not change. */
const REFRESH_MS = 4_000;

export function BatchScreen() {
  const { agentId = "", batchId = "" } = useParams();
  const params: BatchIds = { agent_id: agentId, batch_id: batchId };
  const { data, error, refetch } = useRead(
    BATCH,
    { params },
    { everyMs: (batch) => (typeof batch?.endedAt === "string" ? null : REFRESH_MS) },
  );
  const hasEnded = typeof data?.endedAt === "string";
  const makeStale = useStale();
  useEffect(() => {
    // The calls were read just before their last change and are not polled any more.
    if (hasEnded) void makeStale(`${BATCH}/`);
  }, [hasEnded, makeStale]);
  if (data !== undefined) return <OneBatch batch={data} params={params} />;
  return (
    <Page>
      <PageHeader title="Batch" back={BACK} />
      {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

interface PartProps {
  readonly batch: ScheduledCallBatch;
  readonly params: BatchIds;
}

function OneBatch({ batch, params }: PartProps) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const toast = useToast();
  const agent = useAgentNames().get(params.agent_id);
  const remove = useChange<null, unknown>((api) => api.fetch("DELETE", BATCH, { params }), []);
  const everyMs = batch.endedAt === null ? REFRESH_MS : undefined;
  return (
    <Page>
      <PageHeader
        title={titleOf(batch)}
        back={BACK}
        lead={
          <>
            <StateBadge batch={batch} /> Agent: {agent ?? params.agent_id}
          </>
        }
        actions={
          <>
            {batch.endedAt === null && <PauseButton batch={batch} params={params} />}
            <Button kind="danger" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden="true" /> Delete
            </Button>
          </>
        }
      />
      <Overview batch={batch} params={params} everyMs={everyMs} />
      <Tabs
        label="Batch"
        tabs={[
          { id: "calls", label: "Calls", content: <ScheduledCalls params={params} everyMs={everyMs} /> },
          {
            id: "created",
            label: "Created calls",
            content: <CreatedCalls params={params} everyMs={everyMs} />,
          },
          { id: "settings", label: "Settings", content: <Settings batch={batch} params={params} /> },
        ]}
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${titleOf(batch)}?`}
        text="Calls that are not created yet are cancelled. Created calls are kept. You cannot undo this."
        action="Delete batch"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(null);
          toast("Batch deleted.");
          void go("/batches");
        }}
      />
    </Page>
  );
}

function PauseButton({ batch, params }: PartProps) {
  const toast = useToast();
  const set = useChange(
    (api, paused: boolean) => api.fetch("PATCH", BATCH, { params, body: { paused } }),
    ["/api/agents"],
  );
  const change = () =>
    set.mutateAsync(!batch.paused).then(
      ({ paused }) => toast(paused ? "Batch paused." : "Batch resumed."),
      (error: unknown) => toast(error instanceof Error ? error.message : String(error), "failed"),
    );
  return (
    <Button busy={set.isPending} onClick={() => void change()}>
      {batch.paused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
      {batch.paused ? "Resume" : "Pause"}
    </Button>
  );
}

function Overview({ batch, params, everyMs }: PartProps & { readonly everyMs: number | undefined }) {
  const { completedCount, failedCount, totalCount, windowStart, windowEnd, endedAt, throttle, webhookUrl } =
    batch;
  const state = stateOf(batch, Date.now());
  // A batch names its throttle as in its request, by name or id.
  const throttleName = useThrottles().find(({ value }) => value === throttle)?.label ?? throttle;
  return (
    <Card>
      <Progress label="Completed calls" done={completedCount} total={totalCount} failed={failedCount} />
      <Counts params={params} everyMs={everyMs} />
      <KeyValue
        rows={[
          ["Created", <When key="created" at={batch.created} />],
          ["Starts", <When key="begins" at={windowStart} none="Immediately" />],
          ["Ends", <When key="ends" at={windowEnd} none="When all calls are created" />],
          ["Ended", endedAt === null ? null : <When key="ended" at={endedAt} />],
          ["Throttle", throttleName],
          ...limitsOf(batch),
          ["Webhook", webhookUrl],
          [
            "Webhook secret",
            webhookUrl === null || batch.webhookSecret === null ? null : (
              <Secret key="secret" secret={batch.webhookSecret} name="the secret" />
            ),
          ],
        ]}
      />
      {batch.pauseReason !== null && state !== "ended" && (
        <Notice tone="warn">
          Paused automatically: {batch.pauseReason}. Find out why the calls failed, then resume the batch.
        </Notice>
      )}
      {state === "over" && (
        <Notice tone="warn">
          The end time has passed. Calls that were not created expire. To continue, set a later end.
        </Notice>
      )}
    </Card>
  );
}

function Settings({ batch, params }: PartProps) {
  // Polling does not overwrite changes in the form.
  const [before, setBefore] = useState(() => draftOf(batch));
  const [draft, setDraft] = useState(before);
  const toast = useToast();
  const save = useChange(
    (api, body: ReturnType<typeof patchOf>) => api.fetch("PATCH", BATCH, { params, body }),
    ["/api/agents"],
  );
  if (batch.endedAt !== null) return <Notice>This batch has ended. You can no longer change it.</Notice>;
  return (
    <div className={styles.parts}>
      <Notice>
        You cannot change the calls of a batch. To change them, delete the batch and create a new one.
      </Notice>
      <Form
        label="Batch settings"
        action="Save settings"
        check={() => settingsFaults(draft)}
        onSave={async () => {
          const saved = draftOf(await save.mutateAsync(patchOf(draft, before)));
          setBefore(saved);
          setDraft(saved);
          toast("Settings saved. They apply to calls that are not created yet.");
        }}
      >
        <NameField name={draft.name} onChange={(name) => setDraft((now) => ({ ...now, name }))} />
        <SettingsFields
          draft={draft}
          set={(changes) => setDraft((now) => ({ ...now, ...changes }))}
          hasSecret={batch.webhookSecret !== null}
        />
      </Form>
    </div>
  );
}
