/** The start page: first steps, agents and recent calls. */

import { Mic, Plus } from "lucide-react";
import { Link } from "react-router";
import { useRead } from "../../data/api.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, Page, PageHeader } from "../../ui/display.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Moment } from "../../ui/time.tsx";
import { StatusBadge } from "../call-status.tsx";
import { DemoEngines } from "../demo-engines.tsx";
import { StarterCards } from "../starter-cards.tsx";
import { CallsCard } from "./calls-card.tsx";
import styles from "./home.module.css";

const NEWEST = { query: { pageSize: 5 } } as const;

export function HomeScreen() {
  const agents = useRead("/api/agents", NEWEST);
  if (agents.data === undefined) {
    return (
      <Page>
        <PageHeader title="Home" />
        {agents.error === null ? (
          <Loading />
        ) : (
          <ErrorState error={agents.error} retry={() => void agents.refetch()} />
        )}
      </Page>
    );
  }
  if (agents.data.results.length === 0) return <FirstSteps />;
  return (
    <Page>
      <PageHeader
        title="Home"
        actions={
          <ButtonLink to="/agents/new">
            <Plus aria-hidden="true" /> New agent
          </ButtonLink>
        }
      />
      <DemoEngines />
      <CallsCard />
      <div className={styles.columns}>
        <NewestAgents agents={agents.data} />
        <NewestCalls />
      </div>
    </Page>
  );
}

const STEPS = [
  ["Create an agent", "Choose a template below. You can change its prompt, voice and tools later."],
  ["Talk to it", "Speak or type in this browser."],
  ["Review the call", "See the transcript, the latency of each reply and the recording."],
] as const;

function FirstSteps() {
  return (
    <Page>
      <PageHeader
        title="Welcome to Parley"
        lead="Three steps to your first conversation."
        actions={
          <ButtonLink kind="primary" to="/talk">
            <Mic aria-hidden="true" /> Talk
          </ButtonLink>
        }
      />
      <ol className={styles.steps}>
        {STEPS.map(([title, text]) => (
          <li key={title}>
            <h2>{title}</h2>
            <p>{text}</p>
          </li>
        ))}
      </ol>
      <StarterCards />
      <DemoEngines />
    </Page>
  );
}

interface NewestAgentsProps {
  readonly agents: {
    readonly results: readonly { readonly agentId: string; readonly name: string }[];
    readonly total: number;
  };
}

function NewestAgents({ agents }: NewestAgentsProps) {
  return (
    <Card title="Agents" actions={<Link to="/agents">View all ({agents.total.toLocaleString()})</Link>}>
      <ul className={styles.rows}>
        {agents.results.map(({ agentId, name }) => (
          <li key={agentId}>
            <Link to={`/agents/${agentId}`}>{name}</Link>
            <ButtonLink small to={`/talk?agent=${agentId}`} aria-label={`Talk to ${name}`}>
              <Mic aria-hidden="true" /> Talk
            </ButtonLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function NewestCalls() {
  const calls = useRead("/api/calls", NEWEST);
  return (
    <Card title="Recent calls" actions={<Link to="/calls">View all</Link>}>
      {calls.data === undefined && calls.error === null && <Loading lines={3} />}
      {calls.error !== null && <ErrorState error={calls.error} retry={() => void calls.refetch()} />}
      {calls.data?.results.length === 0 && <p className={styles.none}>No calls yet.</p>}
      <ul className={styles.rows}>
        {calls.data?.results.map((call) => (
          <li key={call.callId}>
            <span>
              <Link to={`/calls/${call.callId}`}>{call.agent?.name ?? "No agent"}</Link>
              <span className={styles.when}>
                <Moment at={call.created} />
              </span>
            </span>
            <StatusBadge call={call} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
