/** Asks before a call is erased. */

import { useChange, useStale } from "../../data/api.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";

export interface DeleteCallProps {
  /** Null: nothing is asked. */
  readonly callId: string | null;
  readonly onClose: () => void;
  /** Before lists are read again: the page of the call is left by then. */
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
      text="Its transcript, events, recording and summary are erased, and only a note without content stays. This cannot be taken back."
      action="Delete call"
      onConfirm={async () => {
        if (callId === null) return;
        await remove.mutateAsync(callId);
        toast("The call is deleted.");
        await onDeleted?.();
        await makeStale("/api/calls", "/api/deleted_calls");
      }}
    />
  );
}
