/** One voice of the account. */

import type { Voice } from "@parley/schema";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { DeleteVoice } from "./delete-voice.tsx";
import { bodyOf, draftOf, type VoiceDraft } from "./voice-draft.ts";
import { VoiceForm } from "./voice-form.tsx";

const BACK = { to: "/voices", label: "Voices" };

export function VoiceScreen() {
  const { voiceId = "" } = useParams();
  const { data, error, refetch } = useRead("/api/voices/{voice_id}", { params: { voice_id: voiceId } });
  if (data !== undefined) return <OneVoice voice={data} />;
  return (
    <Page>
      <PageHeader title="Voice" back={BACK} />
      {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function OneVoice({ voice }: { readonly voice: Voice }) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const toast = useToast();
  const save = useChange(
    (api, draft: VoiceDraft) =>
      api.fetch("PUT", "/api/voices/{voice_id}", {
        params: { voice_id: voice.voiceId },
        body: bodyOf(draft),
      }),
    ["/api/voices"],
  );
  const own = voice.ownership === "private";
  return (
    <Page>
      <PageHeader
        title={voice.name}
        back={BACK}
        lead={<code>{voice.voiceId}</code>}
        actions={
          own && (
            <Button kind="danger" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden="true" /> Delete
            </Button>
          )
        }
      />
      {own ? (
        <VoiceForm
          initial={draftOf(voice)}
          action="Save voice"
          onSave={async (draft) => {
            await save.mutateAsync(draft);
            toast("Saved.");
          }}
        />
      ) : (
        <Notice>This is a public voice. You can use it in agents, but you cannot change it.</Notice>
      )}
      <DeleteVoice
        voice={voice}
        open={deleting}
        onClose={() => setDeleting(false)}
        onDeleted={() => void go("/voices")}
      />
    </Page>
  );
}
