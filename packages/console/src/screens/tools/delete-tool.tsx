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
    // The page of the tool would request a deleted tool.
    onDeleted === undefined ? ["/api/tools"] : [],
  );
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete ${tool.name}?`}
      text="Agents that use it cannot make calls until you change them. You cannot undo this."
      action="Delete tool"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(tool.toolId);
        toast(`${tool.name} deleted.`);
        onDeleted?.();
      }}
    />
  );
}
