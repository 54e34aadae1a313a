import type { Voice } from "@parley/schema";
import { useChange } from "../../data/api.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";

export interface DeleteVoiceProps {
  readonly voice: Voice;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteVoice({ voice, open, onClose, onDeleted }: DeleteVoiceProps) {
  const toast = useToast();
  const remove = useChange(
    (api, voice_id: string) => api.fetch("DELETE", "/api/voices/{voice_id}", { params: { voice_id } }),
    onDeleted === undefined ? ["/api/voices"] : [],
  );
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete ${voice.name}?`}
      text="Agents that use it cannot make calls until you change them. You cannot undo this."
      action="Delete voice"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(voice.voiceId);
        toast(`${voice.name} deleted.`);
        onDeleted?.();
      }}
    />
  );
}
