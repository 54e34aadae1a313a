/** One call: its overview, recording, conversation, events and setup. */

import { ParleyError } from "@parley/client/rest";
import type { Call } from "@parley/schema";
import { useMemo } from "react";
import { useParams } from "react-router";
import { useRead } from "../../data/api.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card, KeyValue, Page, PageHeader } from "../../ui/display.tsx";
import { CodeBlock, When } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CallActions } from "./call-actions.tsx";
import { CallHead } from "./call-head.tsx";
import { clockOf, durationMsOf, endOf, nameOf } from "./call-words.ts";
import { EnginesView } from "./engines-view.tsx";
import { EventsView } from "./events-view.tsx";
import { marksOf } from "./marks.tsx";
import { PhoneCard } from "./phone/phone-card.tsx";
import { PlaybackProvider } from "./recording/playback.tsx";
import { Recording } from "./recording/player.tsx";
import { withoutSecrets } from "./secrets.ts";
import { SetupView } from "./setup-view.tsx";
import { isSipCall, SipView } from "./sip/sip-view.tsx";
import { Transcript } from "./transcript.tsx";
import { useConversation } from "./use-conversation.ts";
import { useRecording } from "./recording/use-recording.ts";
import styles from "./call.module.css";

const BACK = { to: "/calls", label: "Calls" };
const PATH = "/api/calls/{call_id}";
const RUNNING_MS = 2_000;
/** A model writes the summary some seconds after the end of the call. */
const SUMMARY_MS = 60_000;

function freshness(call: Call | undefined): number | null {
  if (call === undefined || call.ended === null) return RUNNING_MS;
  const isNew = Date.now() - Date.parse(call.ended) < SUMMARY_MS;
  return isNew && call.summary === null ? RUNNING_MS : null;
}

export function CallScreen() {
  const { callId = "" } = useParams();
  const params = { call_id: callId };
  const { data, error, refetch } = useRead(PATH, { params }, { everyMs: freshness });
  const isGone = error instanceof ParleyError && error.status === 404;
  if (data !== undefined && !isGone) return <OneCall key={callId} call={data} />;
  if (isGone) return <GoneCall callId={callId} error={error} />;
  return (
    <Page>
      <PageHeader title="Call" back={BACK} />
      {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function OneCall({ call }: { readonly call: Call }) {
  const conversation = useConversation(call);
  const recording = useRecording(call);
  const { lines } = conversation;
  const marks = useMemo(() => (lines === null ? [] : marksOf(lines)), [lines]);
  return (
    <Page>
      <PageHeader title={nameOf(call)} back={BACK} actions={<CallActions call={call} />} />
      <CallHead call={call} />
      <PhoneCard call={call} />
      <PlaybackProvider callId={call.callId} state={recording}>
        <Recording marks={marks} />
        <Tabs
          label="Call"
          tabs={[
            {
              id: "conversation",
              label: "Conversation",
              content: <Transcript conversation={conversation} running={call.ended === null} />,
            },
            { id: "events", label: "Events", content: <EventsView call={call} /> },
            ...(isSipCall(call) ? [{ id: "sip", label: "SIP", content: <SipView call={call} /> }] : []),
            { id: "engines", label: "Engines", content: <EnginesView call={call} /> },
            { id: "setup", label: "Setup", content: <SetupView call={call} /> },
            { id: "json", label: "JSON", content: <JsonView call={call} /> },
          ]}
        />
      </PlaybackProvider>
    </Page>
  );
}

function JsonView({ call }: { readonly call: Call }) {
  const text = useMemo(() => JSON.stringify(withoutSecrets(call), null, 2), [call]);
  return (
    <Card
      title="JSON"
      text="The call as returned by the API. Secrets are hidden."
      actions={<CopyButton text={text} label="Copy JSON" />}
    >
      <div className={styles.json}>
        <CodeBlock label="Call as JSON">{text}</CodeBlock>
      </div>
    </Card>
  );
}

/** A deleted or unknown call. */
function GoneCall({ callId, error }: { readonly callId: string; readonly error: unknown }) {
  const note = useRead("/api/deleted_calls/{call_id}", { params: { call_id: callId } });
  if (note.data === undefined) {
    return (
      <Page>
        <PageHeader title="Call" back={BACK} />
        {note.error === null ? <Loading lines={4} /> : <ErrorState error={error} />}
      </Page>
    );
  }
  const { created, deletionTime, endReason, recordingEnabled, hadSummary, ended } = note.data;
  const ms = ended === null ? null : durationMsOf(note.data, Date.parse(ended));
  return (
    <Page>
      <PageHeader
        title="Deleted call"
        back={BACK}
        lead="The content of this call was deleted. Only this record remains."
      />
      <Card>
        <KeyValue
          rows={[
            ["Call", <code key="id">{callId}</code>],
            ["Created", <When key="created" at={created} />],
            ["Deleted", <When key="deleted" at={deletionTime} />],
            ["End reason", endReason === null ? null : endOf(endReason).text],
            ["Duration", ms === null ? null : clockOf(ms)],
            ["Recording", recordingEnabled ? "on" : "off"],
            ["Summary", hadSummary ? "yes" : "no"],
          ]}
        />
      </Card>
    </Page>
  );
}
