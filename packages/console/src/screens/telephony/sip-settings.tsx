/** The settings of incoming SIP calls. */

import type { SipConfig, SipConfigPatch } from "@parley/schema";
import { useState } from "react";
import { useChange, useRead } from "../../data/api.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card } from "../../ui/display.tsx";
import { Switch } from "../../ui/field.tsx";
import { Fieldset, Form, Note } from "../../ui/form.tsx";
import { Inline } from "../../ui/parts.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { AgentField } from "../agent-field.tsx";
import styles from "./telephony.module.css";

const PATH = "/api/sip";
const MAX_RANGES = 100;
const MAX_AGENTS = 20;

export function SipSettings() {
  const { data, error, refetch } = useRead(PATH, {});
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return <SipForm config={data} />;
}

interface SipDraft {
  readonly ranges: readonly string[];
  readonly allowAll: boolean;
  readonly agents: readonly { readonly agentId: string; readonly toUserPattern: string }[];
  /** Empty: none. */
  readonly fallbackUrl: string;
  /** Empty: the current secrets stay. */
  readonly fallbackSecret: string;
}

function draftOf({ allowedCidrRanges, allowAllAgents, allowedAgents, fallbackHandler }: SipConfig): SipDraft {
  return {
    ranges: allowedCidrRanges,
    allowAll: allowAllAgents,
    agents: allowedAgents.map(({ agentId, toUserPattern = "" }) => ({ agentId, toUserPattern })),
    fallbackUrl: fallbackHandler?.url ?? "",
    fallbackSecret: "",
  };
}

function patchOf({ ranges, allowAll, agents, fallbackUrl, fallbackSecret }: SipDraft): SipConfigPatch {
  const url = fallbackUrl.trim();
  return {
    allowedCidrRanges: ranges.map((range) => range.trim()),
    allowAllAgents: allowAll,
    allowedAgents: agents.map(({ agentId, toUserPattern }) => ({
      agentId,
      ...(toUserPattern === "" ? {} : { toUserPattern }),
    })),
    fallbackHandler:
      url === "" ? null : { url, ...(fallbackSecret === "" ? {} : { secrets: [fallbackSecret] }) },
  };
}

function SipForm({ config }: { readonly config: SipConfig }) {
  const [draft, setDraft] = useState(() => draftOf(config));
  const set = (changes: Partial<SipDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const toast = useToast();
  const save = useChange((api, body: SipConfigPatch) => api.fetch("PATCH", PATH, { body }), [PATH]);
  return (
    <Card title="Incoming calls">
      <Inline>
        SIP address of agents: <code>agent_…@{config.domain}</code>
        <CopyButton text={config.domain} label="Copy domain" />
      </Inline>
      <Form
        label="SIP"
        action="Save SIP settings"
        onSave={async () => {
          setDraft(draftOf(await save.mutateAsync(patchOf(draft))));
          toast("SIP settings saved.");
        }}
      >
        <Fieldset
          legend="Allowed sources"
          hint="IPv4 ranges, for example 203.0.113.0/24. Without a range, no calls are accepted."
        >
          <RowsEditor
            noun="range"
            rows={draft.ranges}
            max={MAX_RANGES}
            fresh={() => ""}
            onChange={(ranges) => set({ ranges })}
          >
            {(range, change, index) => (
              <TextField
                label={`Range ${String(index + 1)}`}
                path={`allowedCidrRanges.${String(index)}`}
                spellCheck={false}
                value={range}
                onChange={change}
              />
            )}
          </RowsEditor>
        </Fieldset>
        <Switch
          label="Allow calls to all agents"
          path="allowAllAgents"
          checked={draft.allowAll}
          onChange={(allowAll) => set({ allowAll })}
        />
        <CalledAgents draft={draft} set={set} />
        <FallbackFields draft={draft} set={set} />
      </Form>
    </Card>
  );
}

interface PartProps {
  readonly draft: SipDraft;
  readonly set: (changes: Partial<SipDraft>) => void;
}

function CalledAgents({ draft, set }: PartProps) {
  return (
    <Fieldset legend="Allowed agents">
      <RowsEditor
        noun="agent"
        rows={draft.agents}
        max={MAX_AGENTS}
        boxed
        fresh={() => ({ agentId: "", toUserPattern: "" })}
        onChange={(agents) => set({ agents })}
      >
        {(agent, change, index) => (
          <div className={styles.pair}>
            <AgentField
              label="Agent"
              path={`allowedAgents.${String(index)}.agentId`}
              value={agent.agentId}
              onChange={(agentId) => change({ ...agent, agentId })}
            />
            <TextField
              label="User pattern"
              aside="optional"
              path={`allowedAgents.${String(index)}.toUserPattern`}
              spellCheck={false}
              maxLength={200}
              placeholder="30\d+"
              value={agent.toUserPattern}
              onChange={(toUserPattern) => change({ ...agent, toUserPattern })}
            />
          </div>
        )}
      </RowsEditor>
      <Note>
        The user pattern is a regular expression for the part before the @. The first matching agent receives
        the call.
      </Note>
    </Fieldset>
  );
}

function FallbackFields({ draft, set }: PartProps) {
  return (
    <Fieldset
      legend="Calls without an agent"
      hint="Your URL receives a request for each of these calls and decides how to handle it."
    >
      <div className={styles.pair}>
        <TextField
          label="URL"
          aside="optional"
          path="fallbackHandler.url"
          inputMode="url"
          spellCheck={false}
          placeholder="https://"
          value={draft.fallbackUrl}
          onChange={(fallbackUrl) => set({ fallbackUrl })}
        />
        <TextField
          label="New secret"
          path="fallbackHandler.secrets.0"
          hint="Leave empty to keep the current secret. If there is none, a secret is generated."
          type="password"
          autoComplete="off"
          maxLength={120}
          value={draft.fallbackSecret}
          onChange={(fallbackSecret) => set({ fallbackSecret })}
        />
      </div>
    </Fieldset>
  );
}
