import type { Tool } from "@parley/schema";
import { useChange } from "../../data/api.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";

export interface DeleteToolProps {
  readonly tool: Tool;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteTool({ tool, open, onClose, onDeleted }: DeleteToolProps) {
  const toast = useToast();
  const remove = useChange(
    (api, tool_id: string) => api.fetch("DELETE", "/api/tools/{tool_id}", { params: { tool_id } }),
    // The page of the tool itself would ask for what is gone.
    onDeleted === undefined ? ["/api/tools"] : [],
  );
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete ${tool.name}?`}
      text="Agents that name it can make no calls until they are changed. This cannot be taken back."
      action="Delete tool"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(tool.toolId);
        toast(`${tool.name} is deleted.`);
        onDeleted?.();
      }}
    />
  );
}
