/** The microphones of this machine, and messages about missing ones. */

import { CallError, type CallErrorCode, listAudioDevices, openMicrophone } from "@parley/client";
import { useEffect, useState } from "react";
import type { Choice } from "../../ui/field.tsx";
import { NO_MICROPHONE, SYSTEM_MICROPHONE } from "./talk-plan.ts";

export interface OpenedMicrophone {
  /** Null: the user types. */
  readonly track: MediaStreamTrack | null;
  /** Why the microphone does not work. */
  readonly refusal: string | null;
}

/** Never rejects: without a microphone the user can type. */
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
  unsupported: "Browsers allow microphones only on HTTPS pages and on localhost.",
};
const WHAT_NOW = "You can type instead; the agent still speaks.";
const HOW_TO_ALLOW = "To speak, allow the microphone in the browser’s address bar, then call again.";

function refusalOf(error: unknown): string {
  const code = error instanceof CallError ? error.code : "microphone_failed";
  const reason = REASONS[code] ?? "The microphone could not be opened. Another program may be using it.";
  return [reason, WHAT_NOW, ...(code === "microphone_denied" ? [HOW_TO_ALLOW] : [])].join(" ");
}

/** Choices for a list. Devices have names only after the user allows a microphone. */
export function useMicrophones(): readonly Choice[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    let gone = false;
    const read = () => {
      listAudioDevices().then(
        ({ microphones }) => {
          if (!gone) setDevices(microphones);
        },
        // Without permission to list devices, only the two choices without a device; starting a call says why.
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
    { value: SYSTEM_MICROPHONE, label: "System default" },
    ...named.map(({ deviceId, label }) => ({ value: deviceId, label })),
    { value: NO_MICROPHONE, label: "None (type only)" },
  ];
}
