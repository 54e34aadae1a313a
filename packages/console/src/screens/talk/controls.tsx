/** Controls during a call: mute, microphone, hang up. */

import type { Call } from "@parley/client";
import { useAudioBlocked, useMuted } from "@parley/client/react";
import { Mic, MicOff, PhoneOff, Volume2, VolumeX } from "lucide-react";
import { useEffect, useState } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Notice } from "../../ui/form.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useMicrophones } from "./microphones.ts";
import { NO_MICROPHONE, SYSTEM_MICROPHONE } from "./talk-plan.ts";
import styles from "./talk.module.css";

export interface ControlsProps {
  readonly call: Call;
  readonly microphone: string;
  readonly onMicrophone: (microphone: string) => void;
  readonly hears: boolean;
  readonly onHears: (hears: boolean) => void;
  readonly onHangUp: () => void;
}

export function Controls({ call, microphone, onMicrophone, hears, onHears, onHangUp }: ControlsProps) {
  const muted = useMuted(call);
  return (
    <div className={styles.controls}>
      <div className={styles.buttons}>
        <Button
          aria-pressed={muted.microphone}
          disabled={!hears}
          onClick={() => call.muteMicrophone(!muted.microphone)}
        >
          {muted.microphone || !hears ? <MicOff aria-hidden="true" /> : <Mic aria-hidden="true" />}
          {muted.microphone ? "Unmute" : "Mute"}
        </Button>
        <IconButton
          kind="plain"
          label="Turn off sound"
          aria-pressed={muted.output}
          icon={muted.output ? <VolumeX aria-hidden="true" /> : <Volume2 aria-hidden="true" />}
          onClick={() => call.muteOutput(!muted.output)}
        />
        <Button className={styles.hangUp} onClick={onHangUp}>
          <PhoneOff aria-hidden="true" /> Hang up
        </Button>
      </div>
      <MicrophoneChoice {...{ call, microphone, onMicrophone, onHears }} />
      <Blocked call={call} />
    </div>
  );
}

type ChoiceProps = Pick<ControlsProps, "call" | "microphone" | "onMicrophone" | "onHears">;

function MicrophoneChoice({ call, microphone, onMicrophone, onHears }: ChoiceProps) {
  const choices = useMicrophones();
  const toast = useToast();
  useEffect(
    () =>
      call.on("microphoneLost", ({ message }) => {
        onHears(false);
        toast(`${message} The agent hears silence. Choose another microphone, or type.`, "failed");
      }),
    [call, onHears, toast],
  );
  const choose = async (next: string) => {
    const before = call.inputTrack;
    try {
      const device = next === SYSTEM_MICROPHONE ? {} : { deviceId: next };
      await call.useMicrophone(next === NO_MICROPHONE ? false : device);
      before?.stop();
      onMicrophone(next);
      onHears(next !== NO_MICROPHONE);
    } catch (error) {
      // The previous microphone is still in use.
      toast(error instanceof Error ? error.message : String(error), "failed");
    }
  };
  return (
    <Select
      aria-label="Microphone"
      value={microphone}
      choices={choices}
      onChange={(next) => void choose(next)}
    />
  );
}

/** Browsers block audio until the user interacts with the page. */
function Blocked({ call }: { readonly call: Call }) {
  const blocked = useAudioBlocked(call);
  const [failed, setFailed] = useState(false);
  if (!blocked) return null;
  return (
    <Notice tone="warn">
      <p>{failed ? "The browser still blocks audio." : "The browser blocks audio until you click."}</p>
      <Button small onClick={() => void call.startAudio().then((sounds) => setFailed(!sounds))}>
        Enable audio
      </Button>
    </Notice>
  );
}
