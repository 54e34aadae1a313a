/** A new tool, empty or as a copy. */

import { useNavigate, useSearchParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { draftOf, NEW_TOOL, type ToolDraft } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";

export function NewToolScreen() {
  const [search] = useSearchParams();
  const from = search.get("from");
  return (
    <Page>
      <PageHeader title="New tool" back={{ to: "/tools", label: "Tools" }} />
      {from === null ? <Create initial={NEW_TOOL} /> : <CreateLike toolId={from} />}
    </Page>
  );
}

function CreateLike({ toolId }: { readonly toolId: string }) {
  const { data, error, refetch } = useRead("/api/tools/{tool_id}", { params: { tool_id: toolId } });
  if (data === undefined) {
    return error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  const draft = draftOf(data);
  return <Create initial={{ ...draft, name: `${draft.name} copy`.slice(0, 40) }} />;
}

function Create({ initial }: { readonly initial: ToolDraft }) {
  const go = useNavigate();
  const toast = useToast();
  const create = useChange(
    (api, body: ToolDraft) => api.fetch("POST", "/api/tools", { body }),
    ["/api/tools"],
  );
  return (
    <ToolForm
      initial={initial}
      action="Create tool"
      onCancel={() => void go("/tools")}
      onSave={async (draft) => {
        const tool = await create.mutateAsync(draft);
        toast(`${tool.name} created. You can now add it to agents.`);
        await go(`/tools/${tool.toolId}`);
      }}
    />
  );
}
