/** The pages of a new and of a stored agent. */

import type { OutputOf } from "@parley/client/rest";
import type { AgentPatch, AgentWrite } from "@parley/schema";
import { Copy, Mic, PhoneOutgoing, Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ScopedLink } from "../scoped-buttons.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card, KeyValue, Page, PageHeader } from "../../ui/display.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Moment } from "../../ui/time.tsx";
import { useToast } from "../../ui/toast.tsx";
import { StarterCards } from "../starter-cards.tsx";
import { DemoEngines, useExamplePhrases } from "../demo-engines.tsx";
import { STARTERS, templateOf } from "../starters.ts";
import { type AgentDocument, AgentForm, MAX_NAME_LENGTH } from "./agent-form.tsx";
import { DeleteAgent } from "./agents-screen.tsx";
import { nameOfCopy, writable } from "./draft.ts";

type Agent = OutputOf<"GET", "/api/agents/{agent_id}">;

const BACK = { to: "/agents", label: "Agents" };

function documentOf({ name, callTemplate }: Agent): AgentDocument {
  return { name, template: writable({ ...callTemplate }) };
}

/** The service checks the whole document and names each error; the form has no rules of its own. */
function bodyOf({ name, template }: AgentDocument): AgentWrite {
  return { ...(name === "" ? {} : { name }), callTemplate: template };
}

export function NewAgentScreen() {
  const [address] = useSearchParams();
  const copied = address.get("copy");
  const starter = STARTERS.find(({ id }) => id === address.get("starter"));
  const phrases = useExamplePhrases();
  const original = useRead(
    "/api/agents/{agent_id}",
    { params: { agent_id: copied ?? "" } },
    { enabled: copied !== null },
  );
  if (copied !== null) {
    if (original.data !== undefined) {
      const { name, template } = documentOf(original.data);
      return <NewAgent initial={{ name: nameOfCopy(name, MAX_NAME_LENGTH), template }} />;
    }
    return <Pending title="New agent" error={original.error} retry={() => void original.refetch()} />;
  }
  if (starter !== undefined) {
    const name = starter.id === "blank" ? "" : starter.name;
    if (starter.demoTemplate !== undefined && phrases === undefined)
      return <Pending title="New agent" error={null} retry={() => undefined} />;
    return <NewAgent key={starter.id} initial={{ name, template: templateOf(starter, phrases ?? null) }} />;
  }
  return (
    <Page>
      <PageHeader
        title="New agent"
        back={BACK}
        lead="Start with a template. You can change everything later."
      />
      <StarterCards />
    </Page>
  );
}

function NewAgent({ initial }: { readonly initial: AgentDocument }) {
  const navigate = useNavigate();
  const toast = useToast();
  const create = useChange(
    (api, body: AgentWrite) => api.fetch("POST", "/api/agents", { body }),
    ["/api/agents"],
  );
  return (
    <Page>
      <PageHeader title="New agent" back={BACK} />
      <AgentForm
        stored={null}
        initial={initial}
        save={async (document, hasUnknown) => {
          const { agentId, name } = await create.mutateAsync(bodyOf(document));
          toast(
            (await hasUnknown)
              ? `${name} created. Its calls will fail. See the warnings.`
              : `${name} created.`,
          );
          await navigate(`/agents/${agentId}`, { replace: true });
        }}
      />
    </Page>
  );
}

interface PendingProps {
  readonly title: string;
  readonly error: unknown;
  readonly retry: () => void;
}

function Pending({ title, error, retry }: PendingProps) {
  return (
    <Page>
      <PageHeader title={title} back={BACK} />
      {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={retry} />}
    </Page>
  );
}

export function AgentScreen() {
  const { agentId = "" } = useParams();
  const agent = useRead("/api/agents/{agent_id}", { params: { agent_id: agentId } });
  if (agent.data === undefined) {
    return <Pending title="Agent" error={agent.error} retry={() => void agent.refetch()} />;
  }
  return <StoredAgent key={agentId} agent={agent.data} refetch={async () => (await agent.refetch()).data} />;
}

const SAVED = "Saved. New calls use this version.";
const SAVED_REFUSED = "Saved. New calls will fail. See the warnings.";

interface StoredAgentProps {
  /** The agent as last read from the service. */
  readonly agent: Agent;
  readonly refetch: () => Promise<Agent | undefined>;
}

function StoredAgent({ agent, refetch }: StoredAgentProps) {
  const toast = useToast();
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  // The version that the form edits: changes from elsewhere are loaded on request only.
  const [loaded, setLoaded] = useState(agent);
  const change = useChange(
    (api, body: AgentPatch) =>
      api.fetch("PATCH", "/api/agents/{agent_id}", { params: { agent_id: agent.agentId }, body }),
    ["/api/agents"],
  );
  const document = documentOf(loaded);
  return (
    <Page>
      <PageHeader
        title={loaded.name}
        back={BACK}
        actions={<AgentActions agentId={agent.agentId} onDelete={() => setDeleting(true)} />}
      />
      <DemoEngines agentId={agent.agentId} />
      {agent.publishedRevisionId !== loaded.publishedRevisionId && !change.isPending && (
        <Card
          title="A newer version of this agent exists"
          text="If you save, you overwrite the newer version."
        >
          <div>
            <Button onClick={() => setLoaded(agent)}>Load the newer version</Button>
          </div>
        </Card>
      )}
      <AgentForm
        key={loaded.publishedRevisionId}
        stored={document}
        initial={document}
        about={<About agent={agent} />}
        save={async (next, hasUnknown) => {
          // A change from elsewhere that the user has not seen must not be overwritten.
          const newest = await refetch();
          if (newest?.publishedRevisionId !== agent.publishedRevisionId) {
            throw new Error(
              "A newer version of this agent exists. Load the newer version, or save again to overwrite it.",
            );
          }
          const saved = await change.mutateAsync({
            ...bodyOf(next),
            name: next.name === "" ? null : next.name,
          });
          const refused = await hasUnknown;
          setLoaded(saved);
          toast(refused ? SAVED_REFUSED : SAVED);
        }}
      />
      <DeleteAgent
        agent={deleting ? agent : null}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate("/agents")}
      />
    </Page>
  );
}

interface AgentActionsProps {
  readonly agentId: string;
  readonly onDelete: () => void;
}

function AgentActions({ agentId, onDelete }: AgentActionsProps) {
  return (
    <>
      <ScopedLink needs="calls" kind="primary" to={`/talk?agent=${agentId}`}>
        <Mic aria-hidden="true" /> Talk
      </ScopedLink>
      <ScopedLink needs="calls" to={`/calls/new?agent=${agentId}`}>
        <PhoneOutgoing aria-hidden="true" /> Call a number
      </ScopedLink>
      <ButtonLink to={`/agents/new?copy=${agentId}`}>
        <Copy aria-hidden="true" /> Duplicate
      </ButtonLink>
      <Button kind="danger" onClick={onDelete}>
        <Trash2 aria-hidden="true" /> Delete
      </Button>
    </>
  );
}

function About({ agent }: { readonly agent: Agent }) {
  const { agentId, publishedRevisionId, created, callTemplate, statistics } = agent;
  return (
    <Card title="About" text="Each save creates a revision. A call keeps the revision that it started with.">
      <KeyValue
        rows={[
          ["Agent ID", <Id key="id" id={agentId} />],
          [
            "Revision ID",
            publishedRevisionId === null ? null : <Id key="revision" id={publishedRevisionId} />,
          ],
          ["Created", <Moment key="created" at={created} />],
          [
            "Last changed",
            callTemplate?.updated === undefined ? null : <Moment key="changed" at={callTemplate.updated} />,
          ],
          ["Calls", statistics.calls.toLocaleString()],
        ]}
      />
    </Card>
  );
}

function Id({ id }: { readonly id: string }) {
  return (
    <>
      <code>{id}</code> <CopyButton text={id} />
    </>
  );
}
