/** The microphones of this machine, and what to say where there is none. */

import { CallError, type CallErrorCode, listAudioDevices, openMicrophone } from "@parley/client";
import { useEffect, useState } from "react";
import type { Choice } from "../../ui/field.tsx";
import { NO_MICROPHONE, SYSTEM_MICROPHONE } from "./talk-plan.ts";

export interface OpenedMicrophone {
  /** Null: the call is by typing. */
  readonly track: MediaStreamTrack | null;
  /** Why there is no sound from here, although it was wanted. */
  readonly refusal: string | null;
}

/** Never rejects: who cannot speak can type. */
export async function openChosen(microphone: string): Promise<OpenedMicrophone> {
  if (microphone === NO_MICROPHONE) return { track: null, refusal: null };
  try {
    const track = await openMicrophone(microphone === SYSTEM_MICROPHONE ? {} : { deviceId: microphone });
    return { track, refusal: null };
  } catch (error) {
    return { track: null, refusal: refusalOf(error) };
  }
}

const REASONS: Partial<Record<CallErrorCode, string>> = {
  microphone_denied: "The browser does not let this page use the microphone.",
  no_microphone: "No microphone was found.",
  unsupported: "Browsers give microphones only to pages that come by https or from this machine.",
};
const WHAT_NOW = "You can type, and the agent still speaks.";
const HOW_TO_ALLOW =
  "To speak as well, allow the microphone beside the address of this page, then talk again.";

function refusalOf(error: unknown): string {
  const code = error instanceof CallError ? error.code : "microphone_failed";
  const reason = REASONS[code] ?? "The microphone could not be opened; another program may hold it.";
  return [reason, WHAT_NOW, ...(code === "microphone_denied" ? [HOW_TO_ALLOW] : [])].join(" ");
}

/** Choices for a list. Devices have names only after the browser was allowed to use one. */
export function useMicrophones(): readonly Choice[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    let gone = false;
    const read = () => {
      listAudioDevices().then(
        ({ microphones }) => {
          if (!gone) setDevices(microphones);
        },
        // A page that may not ask has the two choices that need no device; starting says why.
        () => undefined,
      );
    };
    read();
    const media = navigator.mediaDevices as MediaDevices | undefined;
    media?.addEventListener("devicechange", read);
    return () => {
      gone = true;
      media?.removeEventListener("devicechange", read);
    };
  }, []);
  const named = devices.filter(({ deviceId, label }) => label !== "" && !["", "default"].includes(deviceId));
  return [
    { value: SYSTEM_MICROPHONE, label: "The system’s microphone" },
    ...named.map(({ deviceId, label }) => ({ value: deviceId, label })),
    { value: NO_MICROPHONE, label: "None, I type" },
  ];
}
