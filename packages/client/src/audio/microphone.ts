/** Opens the microphone of a call. */

import { CallError } from "../call/call-error.ts";

export interface MicrophoneOptions {
  /** An id from `listAudioDevices`; unset: the system default. */
  readonly deviceId?: string;
  /** All three default to true: with loudspeakers the agent would otherwise hear itself. */
  readonly echoCancellation?: boolean;
  readonly noiseSuppression?: boolean;
  readonly autoGainControl?: boolean;
}

/** What the agent hears: a microphone by its settings, a track of your own, or `false` for silence. */
export type MicrophoneChoice = MicrophoneOptions | MediaStreamTrack | false;

export interface AudioDevices {
  readonly microphones: readonly MediaDeviceInfo[];
  readonly outputs: readonly MediaDeviceInfo[];
}

/** Labels are empty until the user has allowed a microphone once. */
export async function listAudioDevices(): Promise<AudioDevices> {
  const devices = await mediaDevices().enumerateDevices();
  return {
    microphones: devices.filter(({ kind }) => kind === "audioinput"),
    outputs: devices.filter(({ kind }) => kind === "audiooutput"),
  };
}

function mediaDevices(): MediaDevices {
  // Absent in pages without https, whatever the types say.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices !== undefined) return devices;
  throw new CallError(
    "unsupported",
    "Microphones are not available here: browsers allow them only on pages from https or localhost.",
  );
}

/**
 * Opens a microphone, as `joinCall` does, for pages that ask before they create a call. The page must stop the track.
 * @throws CallError `microphone_denied`, `no_microphone`, `microphone_failed`, `unsupported`
 */
export async function openMicrophone(options: MicrophoneOptions): Promise<MediaStreamTrack> {
  const { deviceId, echoCancellation = true, noiseSuppression = true, autoGainControl = true } = options;
  const audio: MediaTrackConstraints = { echoCancellation, noiseSuppression, autoGainControl };
  if (deviceId !== undefined) audio.deviceId = { exact: deviceId };
  try {
    const stream = await mediaDevices().getUserMedia({ audio });
    const [track] = stream.getAudioTracks();
    if (track === undefined) throw new CallError("no_microphone", "The microphone has no audio track.");
    return track;
  } catch (error) {
    throw microphoneError(error);
  }
}

/** Exported for its test: names are those of the Media Capture specification. */
export function microphoneError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  const cause = error instanceof Error || error instanceof DOMException ? error : null;
  const details = { cause: error };
  switch (cause?.name ?? "") {
    case "NotAllowedError":
    case "SecurityError":
      return new CallError(
        "microphone_denied",
        "The microphone was refused, by the user or by a policy of the page (permissions-policy: microphone).",
        details,
      );
    case "NotFoundError":
    case "OverconstrainedError":
      return new CallError("no_microphone", "There is no microphone, or not the requested one.", details);
    default:
      return new CallError(
        "microphone_failed",
        `The microphone could not be opened; another program may be using it (${cause?.message ?? String(error)}).`,
        details,
      );
  }
}
