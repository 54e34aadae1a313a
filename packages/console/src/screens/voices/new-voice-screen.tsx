import { useNavigate } from "react-router";
import { useChange } from "../../data/api.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { useToast } from "../../ui/toast.tsx";
import { bodyOf, NEW_VOICE, type VoiceDraft } from "./voice-draft.ts";
import { VoiceForm } from "./voice-form.tsx";

export function NewVoiceScreen() {
  const go = useNavigate();
  const toast = useToast();
  const create = useChange(
    (api, draft: VoiceDraft) => api.fetch("POST", "/api/voices", { body: bodyOf(draft) }),
    ["/api/voices"],
  );
  return (
    <Page>
      <PageHeader
        title="New voice"
        back={{ to: "/voices", label: "Voices" }}
        lead="A voice at a provider, or of your own HTTP service. Agents and calls use it by its name."
      />
      <VoiceForm
        initial={NEW_VOICE}
        action="Store voice"
        onCancel={() => void go("/voices")}
        onSave={async (draft) => {
          const voice = await create.mutateAsync(draft);
          toast(`${voice.name} created.`);
          await go(`/voices/${voice.voiceId}`);
        }}
      />
    </Page>
  );
}
