/** Previews of voices. */

import { Pause, Play } from "lucide-react";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { useApi, useSignedIn } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { bodyOf, type VoiceDraft } from "./voice-draft.ts";

type Load = () => Promise<Blob>;

interface Player {
  /** The voice that is playing or loading; null: none. */
  readonly current: string | null;
  readonly loading: boolean;
  readonly toggle: (id: string, load: Load) => Promise<void>;
}

const PlayerContext = createContext<Player | null>(null);

/** Plays one voice at a time: a new preview stops the previous one. */
export function VoicePlayer({ children }: { readonly children: ReactNode }) {
  const audio = useRef<HTMLAudioElement | null>(null);
  const wanted = useRef<string | null>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);
  const stop = () => {
    wanted.current = null;
    audio.current?.pause();
    if (audio.current !== null) URL.revokeObjectURL(audio.current.src);
    audio.current = null;
    setCurrent(null);
    setLoading(false);
  };
  useEffect(
    () => () => {
      wanted.current = null;
      audio.current?.pause();
    },
    [],
  );
  const toggle = async (id: string, load: Load) => {
    const again = wanted.current === id;
    stop();
    if (again) return;
    wanted.current = id;
    setCurrent(id);
    setLoading(true);
    try {
      const sound = await load();
      // The user chose another voice, or stopped, while this one was loading.
      if (wanted.current !== id) return;
      const player = new Audio(URL.createObjectURL(sound));
      player.addEventListener("ended", stop);
      audio.current = player;
      setLoading(false);
      await player.play();
    } catch (error) {
      if (wanted.current === id) stop();
      throw error;
    }
  };
  return <PlayerContext value={{ current, loading, toggle }}>{children}</PlayerContext>;
}

function usePlayer(): Player {
  const player = useContext(PlayerContext);
  if (player === null) throw new Error("This button needs a player around it.");
  return player;
}

export interface PlayButtonProps {
  readonly voiceId: string;
  readonly name: string;
}

/** In lists: errors are shown as toasts. */
export function PlayButton({ voiceId, name }: PlayButtonProps) {
  const api = useApi();
  const toast = useToast();
  const { current, loading, toggle } = usePlayer();
  const mine = current === voiceId;
  const load = async () => {
    const sound = await api.fetch("GET", "/api/voices/{voice_id}/preview", { params: { voice_id: voiceId } });
    return sound.blob();
  };
  return (
    <IconButton
      label={mine ? `Stop ${name}` : `Play ${name}`}
      aria-busy={mine && loading}
      icon={mine ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
      small
      onClick={() => {
        toggle(voiceId, load).catch((error: unknown) => {
          toast(error instanceof Error ? error.message : String(error), "failed");
        });
      }}
    />
  );
}

/** Preview of a voice that is not stored yet. */
export function TryDraft({ draft }: { readonly draft: VoiceDraft }) {
  return (
    <VoicePlayer>
      <TryButton draft={draft} />
    </VoicePlayer>
  );
}

function TryButton({ draft }: { readonly draft: VoiceDraft }) {
  const { send } = useSignedIn();
  const { current, loading, toggle } = usePlayer();
  const [error, setError] = useState<unknown>(null);
  const load = async () => {
    const { definition, ...texts } = bodyOf(draft);
    const body = { ...texts, ...(texts.name === "" ? { name: "draft" } : {}), definition };
    const answer = await send("POST", "/api/voice_preview", {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw await refusalOf(answer);
    return answer.blob();
  };
  return (
    <>
      <div>
        <Button
          busy={loading}
          onClick={() => {
            setError(null);
            toggle("draft", load).catch(setError);
          }}
        >
          {current === null ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
          {current === null ? "Preview" : "Stop"}
        </Button>
      </div>
      {error !== null && <ErrorState error={error} />}
    </>
  );
}
