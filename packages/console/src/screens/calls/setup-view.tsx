/** The setup of a call: its settings, stages and tools. */

import type { OutputOf } from "@parley/client/rest";
import type { Call, CallStage } from "@parley/schema";
import { useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Card, KeyValue } from "../../ui/display.tsx";
import { CodeBlock, When } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { freshnessOf } from "./use-conversation.ts";
import styles from "./call.module.css";

type Tools = OutputOf<"GET", "/api/calls/{call_id}/tools">;

export function SetupView({ call }: { readonly call: Call }) {
  return (
    <div className={styles.parts}>
      <Settings call={call} />
      <Stages call={call} />
      <ToolsOf call={call} />
    </div>
  );
}

function Settings({ call }: { readonly call: Call }) {
  const { metadata, firstSpeakerSettings, vadSettings, initialState, requestContext } = call;
  return (
    <Card title="Call settings" text="From the agent and the request that created the call.">
      <KeyValue
        rows={[
          ["First speaker", <Json key="first" label="First speaker" value={firstSpeakerSettings} />],
          ["Maximum duration", call.maxDuration],
          ["Join timeout", call.joinTimeout],
          ["Replies", call.initialOutputMedium === "MESSAGE_MEDIUM_TEXT" ? "written" : "spoken"],
          ["Recording", call.recordingEnabled ? "on" : "off"],
          ["Client messages", call.clientMessages],
          ["After the call", call.retentionPolicy === "auto_delete" ? "deleted automatically" : "kept"],
          [
            "Turn-taking",
            isEmpty(vadSettings) ? null : <Json key="vad" label="Turn-taking" value={vadSettings} />,
          ],
          ["Metadata", isEmpty(metadata) ? null : <Json key="metadata" label="Metadata" value={metadata} />],
          [
            "Initial state",
            isEmpty(initialState) ? null : <Json key="state" label="Initial state" value={initialState} />,
          ],
          [
            "Request context",
            isEmpty(requestContext) ? null : (
              <Json key="context" label="Request context" value={requestContext} />
            ),
          ],
          ["Client", call.clientVersion],
        ]}
      />
    </Card>
  );
}

function isEmpty(value: object | null): boolean {
  return value === null || Object.keys(value).length === 0;
}

function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  return <CodeBlock label={label}>{JSON.stringify(value, null, 2)}</CodeBlock>;
}

function Stages({ call }: { readonly call: Call }) {
  const stages = usePages(
    "/api/calls/{call_id}/stages",
    { params: { call_id: call.callId } },
    { everyMs: () => freshnessOf(call) },
  );
  if (stages.rows === null) {
    return stages.error === null ? <Loading /> : <ErrorState error={stages.error} retry={stages.retry} />;
  }
  return (
    <>
      {stages.rows.map((stage, index) => (
        <Stage key={stage.callStageId} stage={stage} number={index + 1} />
      ))}
      {stages.more !== null && (
        <div>
          <Button busy={stages.loadingMore} onClick={stages.more}>
            Load more stages
          </Button>
        </div>
      )}
    </>
  );
}

function Stage({ stage, number }: { readonly stage: CallStage; readonly number: number }) {
  const { systemPrompt, inactivityMessages, initialTokenCount, latestTokenCount, errorCount } = stage;
  return (
    <Card title={`Stage ${String(number)}`} text={<When at={stage.created} />}>
      {systemPrompt === null ? (
        <p className={styles.soft}>No system prompt.</p>
      ) : (
        <CodeBlock label={`System prompt of stage ${String(number)}`}>{systemPrompt}</CodeBlock>
      )}
      <KeyValue
        rows={[
          ["Model", stage.model],
          ["Temperature", String(stage.temperature)],
          ["Voice", stage.externalVoice === null ? (stage.voice ?? "default") : "external"],
          ["Language", stage.languageHint],
          ["Initial tokens", initialTokenCount?.toLocaleString() ?? null],
          ["Latest tokens", latestTokenCount?.toLocaleString() ?? null],
          ["Failed tools", errorCount === 0 ? null : <Badge tone="bad">{errorCount.toLocaleString()}</Badge>],
          ["Message at the maximum duration", stage.timeExceededMessage],
          [
            "Inactivity messages",
            inactivityMessages.length === 0 ? null : (
              <Json key="inactivity" label="Inactivity messages" value={inactivityMessages} />
            ),
          ],
        ]}
      />
    </Card>
  );
}

function ToolsOf({ call }: { readonly call: Call }) {
  const { data, error, refetch } = useRead("/api/calls/{call_id}/tools", {
    params: { call_id: call.callId },
  });
  if (data === undefined) {
    return error === null ? <Loading lines={2} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <Card
      title="Tools"
      text={
        data.length === 0 ? "This call had no tools." : "The tools of all stages. Credentials are hidden."
      }
    >
      {data.length > 0 && (
        <ul className={styles.tools}>
          {data.map((tool) => (
            <ToolOf key={tool.callToolId} tool={tool} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function ToolOf({ tool: { name, definition } }: { readonly tool: Tools[number] }) {
  const { description, ...rest } = definition;
  return (
    <li>
      <details className={styles.tool}>
        <summary>
          <code>{name}</code> <span className={styles.soft}>{description}</span>
        </summary>
        <Json label={`Definition of ${name}`} value={rest} />
      </details>
    </li>
  );
}
