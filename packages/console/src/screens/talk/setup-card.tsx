/** The settings before a call. */

import { CallError } from "@parley/client";
import { Mic } from "lucide-react";
import { useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Card } from "../../ui/display.tsx";
import { faultsOf, FieldErrors, type FieldFault } from "../../ui/field-errors.tsx";
import { Switch } from "../../ui/field.tsx";
import { Columns, Notice } from "../../ui/form.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { AgentField } from "../agent-field.tsx";
import { VariableFields } from "../variable-fields.tsx";
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
            if (!busy && agentId !== "" && draft.variables.valid) onStart();
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
            {agent.data !== undefined && <VariableFields agent={agent.data} variables={draft.variables} />}
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
