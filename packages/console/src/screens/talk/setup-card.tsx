/** The settings before a call. */

import { CallError } from "@parley/client";
import type { OutputOf } from "@parley/client/rest";
import { Mic } from "lucide-react";
import { useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Card } from "../../ui/display.tsx";
import { faultsOf, FieldErrors, type FieldFault } from "../../ui/field-errors.tsx";
import { Switch } from "../../ui/field.tsx";
import { Columns, Fieldset, Notice } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { AgentField } from "../agent-field.tsx";
import { needsDocument, variablesOf } from "../template-variables.ts";
import { useMicrophones } from "./microphones.ts";
import { Waiting } from "./presence.tsx";
import { type Medium, MEDIA, NO_MICROPHONE } from "./talk-plan.ts";
import type { Draft } from "./use-draft.ts";
import type { Phase, Step } from "./use-talk.ts";
import styles from "./talk.module.css";

const MEDIUM_TEXTS: Readonly<Record<Medium, string>> = {
  webRtc: "WebRTC",
  serverWebSocket: "WebSocket",
};

const STEP_TEXTS: Readonly<Record<Step, string>> = {
  microphone: "Waiting for the microphone",
  call: "Creating the call",
  join: "Connecting",
};

export interface SetupCardProps {
  readonly draft: Draft;
  readonly phase: Extract<Phase, { kind: "setup" | "starting" }>;
  readonly onStart: () => void;
  readonly onCancel: () => void;
}

type Agent = OutputOf<"GET", "/api/agents/{agent_id}">;

export function SetupCard({ draft, phase, onStart, onCancel }: SetupCardProps) {
  const { agentId } = draft;
  const agent = useRead(
    "/api/agents/{agent_id}",
    { params: { agent_id: agentId } },
    { enabled: agentId !== "" },
  );
  const error = phase.kind === "setup" ? phase.error : null;
  const busy = phase.kind === "starting";
  return (
    <FieldErrors error={error}>
      {(rest) => (
        <form
          className={styles.setup}
          aria-label="Start a call"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy && agentId !== "" && draft.valid) onStart();
          }}
        >
          <Card className={styles.choices}>
            <AgentField
              label="Agent"
              path="agentId"
              placeholder="Choose an agent"
              value={agentId}
              onChange={draft.setAgentId}
            />
            {agent.error !== null && agentId !== "" && <ErrorState error={agent.error} />}
            {agent.data !== undefined && <Context agent={agent.data} draft={draft} />}
            <Ways draft={draft} />
          </Card>
          <Card className={styles.start}>
            <Waiting busy={busy} />
            <div className={styles.startWords}>
              <h2>{agent.data?.name ?? "Choose an agent"}</h2>
              <p aria-live="polite">{busy ? `${STEP_TEXTS[phase.step]}…` : "Ready to call."}</p>
            </div>
            {error !== null && <Failure error={error} rest={rest} />}
            <Button
              kind="primary"
              type="submit"
              className={styles.startButton}
              busy={busy}
              disabled={agentId === ""}
            >
              {!busy && <Mic aria-hidden="true" />}
              {busy ? "Calling" : "Talk"}
            </Button>
            <Button kind="quiet" className={classNames(!busy && styles.unseen)} onClick={onCancel}>
              Cancel
            </Button>
          </Card>
        </form>
      )}
    </FieldErrors>
  );
}

/** The variables of the agent's template. */
function Context({ agent, draft }: { readonly agent: Agent; readonly draft: Draft }) {
  const template = { ...agent.callTemplate };
  const names = variablesOf(template);
  if (names.length === 0 && template.contextSchema === undefined) return null;
  if (needsDocument(template)) {
    return (
      <JsonEditor
        label="Variables (JSON)"
        hint={
          names.length === 0
            ? "Must match the variable schema of the agent."
            : `Used in the agent’s texts: ${names.join(", ")}.`
        }
        path="templateContext"
        rows={5}
        value={draft.document}
        onChange={draft.setDocument}
        onValidity={draft.setValid}
      />
    );
  }
  return (
    <Fieldset legend="Variables">
      <Columns>
        {names.map((name) => (
          <TextField
            key={name}
            label={<code>{name}</code>}
            path={`templateContext.${name}`}
            value={draft.values.get(name) ?? ""}
            onChange={(text) => draft.setValue(name, text)}
          />
        ))}
      </Columns>
    </Fieldset>
  );
}

function Ways({ draft }: { readonly draft: Draft }) {
  const microphones = useMicrophones();
  return (
    <>
      <Columns>
        <SelectField
          label="Microphone"
          hint={
            draft.microphone === NO_MICROPHONE
              ? "Type to talk to the agent."
              : "You can also type at any time."
          }
          value={draft.microphone}
          choices={microphones}
          onChange={draft.setMicrophone}
        />
        <SelectField
          label="Medium"
          path="medium"
          hint={
            draft.medium === "webRtc"
              ? "For web pages and phones. Uses a WebSocket if UDP is blocked."
              : "Uncompressed audio over one connection, for servers."
          }
          value={draft.medium}
          choices={MEDIA.map((value) => ({ value, label: MEDIUM_TEXTS[value] }))}
          onChange={(chosen) => draft.setMedium(MEDIA.find((medium) => medium === chosen) ?? "webRtc")}
        />
      </Columns>
      <Switch
        label="Enable a demo client tool"
        hint={
          <>
            Adds the tool <code>showNote</code>, which shows a note on this page. Ask the agent to show you a
            note.
          </>
        }
        checked={draft.withNotes}
        onChange={draft.setWithNotes}
      />
    </>
  );
}

function Failure({ error, rest }: { readonly error: unknown; readonly rest: readonly FieldFault[] }) {
  if (faultsOf(error).length > 0 && rest.length === 0) {
    return (
      <p role="alert" className={styles.refused}>
        The call could not be created. Fix the highlighted fields.
      </p>
    );
  }
  if (!(error instanceof CallError)) return <ErrorState error={error} faults={rest} />;
  const wait = error.retryAfterSeconds;
  return (
    <Notice tone="warn">
      <div role="alert">
        {error.message}
        {wait !== null && ` Try again in ${wait.toLocaleString()} s.`}
      </div>
    </Notice>
  );
}
