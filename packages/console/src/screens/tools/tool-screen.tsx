/** One tool: its definition, a test run, and the calls that had it. */

import type { Tool } from "@parley/schema";
import { Copy, Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge, KeyValue, Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { CodeBlock, When } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useToast } from "../../ui/toast.tsx";
import { DeleteTool } from "./delete-tool.tsx";
import { ToolHistory } from "./tool-history.tsx";
import { draftOf, KIND_NAMES, kindOf, type ToolDraft } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { ToolTest } from "./tool-test.tsx";

const BACK = { to: "/tools", label: "Tools" };

export function ToolScreen() {
  const { toolId = "" } = useParams();
  const { data, error, refetch } = useRead("/api/tools/{tool_id}", { params: { tool_id: toolId } });
  if (data === undefined) {
    return (
      <Page>
        <PageHeader title="Tool" back={BACK} />
        {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />}
      </Page>
    );
  }
  return <OneTool tool={data} />;
}

function OneTool({ tool }: { readonly tool: Tool }) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const own = tool.ownership === "private";
  const definition = own ? <Edit tool={tool} /> : <BuiltIn tool={tool} />;
  const test =
    tool.definition.http === undefined
      ? []
      : [{ id: "test", label: "Test", content: <ToolTest tool={tool} /> }];
  return (
    <Page>
      <PageHeader
        title={tool.name}
        back={BACK}
        lead={
          <>
            <Badge>{own ? KIND_NAMES[kindOf(tool.definition)] : "Built-in"}</Badge> <code>{tool.toolId}</code>
          </>
        }
        actions={
          <>
            <ButtonLink to={`/tools/new?from=${tool.toolId}`}>
              <Copy aria-hidden="true" /> Duplicate
            </ButtonLink>
            {own && (
              <Button kind="danger" onClick={() => setDeleting(true)}>
                <Trash2 aria-hidden="true" /> Delete
              </Button>
            )}
          </>
        }
      />
      <Tabs
        label="Tool"
        tabs={[
          { id: "definition", label: "Definition", content: definition },
          ...test,
          { id: "history", label: "History", content: <ToolHistory toolId={tool.toolId} /> },
        ]}
      />
      <DeleteTool
        tool={tool}
        open={deleting}
        onClose={() => setDeleting(false)}
        onDeleted={() => void go("/tools")}
      />
    </Page>
  );
}

function Edit({ tool }: { readonly tool: Tool }) {
  const toast = useToast();
  const save = useChange(
    (api, body: ToolDraft) =>
      api.fetch("PUT", "/api/tools/{tool_id}", { params: { tool_id: tool.toolId }, body }),
    ["/api/tools"],
  );
  return (
    <ToolForm
      initial={draftOf(tool)}
      action="Save tool"
      onSave={async (draft) => {
        await save.mutateAsync(draft);
        toast("Saved. Calls in progress keep the previous definition.");
      }}
    />
  );
}

function BuiltIn({ tool }: { readonly tool: Tool }) {
  return (
    <>
      <Notice>This is a public tool. You can use it in agents, but you cannot change it.</Notice>
      <br />
      <KeyValue
        rows={[
          ["Description", tool.definition.description ?? "–"],
          ["Created", <When key="since" at={tool.created} />],
        ]}
      />
      <br />
      <CodeBlock label="Tool definition">{JSON.stringify(tool.definition, null, 2)}</CodeBlock>
    </>
  );
}
