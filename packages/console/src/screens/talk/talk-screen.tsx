/** The screen to talk to an agent, by voice or by typing. */

import { useCallback, useEffect, useState } from "react";
import { useBlocker, useSearchParams } from "react-router";
import { useRead } from "../../data/api.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { DemoEngines } from "../demo-engines.tsx";
import { Over, Talking } from "./conversation-view.tsx";
import { FirstAgent } from "./first-agent.tsx";
import { SetupCard } from "./setup-card.tsx";
import { useDraft } from "./use-draft.ts";
import { useTalk } from "./use-talk.ts";

const NEWEST = { query: { pageSize: 1, sort: "-created" } } as const;

export function TalkScreen() {
  const agents = useRead("/api/agents", NEWEST);
  if (agents.data !== undefined) return <Talk newest={agents.data.results[0]?.agentId ?? ""} />;
  return (
    <Page>
      <PageHeader title="Talk" />
      {agents.error === null ? (
        <Loading lines={6} />
      ) : (
        <ErrorState error={agents.error} retry={() => void agents.refetch()} />
      )}
    </Page>
  );
}

/** @param newest id of the newest agent; empty: no agents */
function Talk({ newest }: { readonly newest: string }) {
  const draft = useDraft(newest);
  const { phase, start, stop, reset } = useTalk();
  const [say, setSay] = useState(useSearchParams()[0].get("say"));
  const begin = (agentId?: string) => void start(draft.plan(agentId));
  if (phase.kind === "talking" || phase.kind === "over") {
    const { conversation } = phase;
    return (
      <Page>
        <PageHeader title={conversation.agentName} />
        {phase.kind === "talking" ? (
          <Talking
            key={conversation.callId}
            conversation={conversation}
            microphone={draft.microphone}
            onMicrophone={draft.setMicrophone}
            onHangUp={stop}
            say={say}
            onSaid={() => setSay(null)}
          />
        ) : (
          <Over {...phase} onAgain={() => begin()} onChange={reset} />
        )}
        <Guard active={phase.kind === "talking"} />
      </Page>
    );
  }
  return (
    <Page>
      <PageHeader title="Talk" lead="Talk to an agent in this browser, by voice or by typing." />
      <DemoEngines
        onSay={(phrase) => {
          setSay(phrase);
          if (draft.agentId !== "" && draft.variables.valid) begin();
        }}
      />
      {say !== null && <Notice>After the agent’s first words, “{say}” is typed for you.</Notice>}
      {newest === "" && draft.agentId === "" ? (
        <FirstAgent
          onMade={(agentId) => {
            draft.setAgentId(agentId);
            begin(agentId);
          }}
        />
      ) : (
        <SetupCard draft={draft} phase={phase} onStart={() => begin()} onCancel={stop} />
      )}
    </Page>
  );
}

/** Leaving the screen ends the call, so it asks first. */
function Guard({ active }: { readonly active: boolean }) {
  const blocker = useBlocker(
    useCallback(
      ({
        currentLocation,
        nextLocation,
      }: {
        currentLocation: { pathname: string };
        nextLocation: { pathname: string };
      }) => active && currentLocation.pathname !== nextLocation.pathname,
      [active],
    ),
  );
  // If the call ends meanwhile, the question is obsolete.
  useEffect(() => {
    if (!active && blocker.state === "blocked") blocker.proceed();
  }, [active, blocker]);
  return (
    <Confirm
      open={active && blocker.state === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Hang up and leave?"
      text="If you leave this page, the call ends."
      action="Hang up"
      onConfirm={() => blocker.proceed?.()}
    />
  );
}
