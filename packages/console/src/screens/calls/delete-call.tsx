/** Confirms the deletion of a call. */

import { useChange, useStale } from "../../data/api.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";

export interface DeleteCallProps {
  /** The call to delete; null: the dialog is closed. */
  readonly callId: string | null;
  readonly onClose: () => void;
  /** Called before lists are read again, to leave the page of the call. */
  readonly onDeleted?: () => void | Promise<void>;
}

export function DeleteCall({ callId, onClose, onDeleted }: DeleteCallProps) {
  const toast = useToast();
  const makeStale = useStale();
  const remove = useChange(
    (api, doomed: string) => api.fetch("DELETE", "/api/calls/{call_id}", { params: { call_id: doomed } }),
    [],
  );
  return (
    <Confirm
      open={callId !== null}
      onClose={onClose}
      dangerous
      title="Delete this call?"
      text="This deletes its transcript, events, recording and summary. Its times and end reason are kept. You cannot undo this."
      action="Delete call"
      onConfirm={async () => {
        if (callId === null) return;
        await remove.mutateAsync(callId);
        toast("Call deleted.");
        await onDeleted?.();
        await makeStale("/api/calls", "/api/deleted_calls");
      }}
    />
  );
}
