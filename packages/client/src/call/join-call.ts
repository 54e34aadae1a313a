/** Joins a call from a page. */

import { type MicrophoneChoice, openMicrophone } from "../audio/microphone.ts";
import { Sound } from "../audio/sound.ts";
import type { Call } from "./call.ts";
import { CallError } from "./call-error.ts";
import type { SocketRates } from "../audio/socket-audio.ts";
import { connect, type Route } from "./connect.ts";
import { type JoinAddress, readJoinUrl } from "./join-url.ts";
import { LiveCall } from "./live-call.ts";
import { Microphone } from "./microphone-slot.ts";
import type { ToolHandler } from "./tools.ts";

/** Wait for WebRTC before a websocket is tried too. Working UDP connects within a second or two. */
const FALLBACK_AFTER_MS = 4_000;

export interface JoinOptions {
  /** Default: the system's microphone, with echo cancellation. `false`: the agent hears silence, for calls by text. */
  readonly microphone?: MicrophoneChoice;
  /** The device that plays the agent. Default: the system default. */
  readonly outputDeviceId?: string;
  /** Client tools by name; add more with `registerTool`. */
  readonly tools?: Readonly<Record<string, ToolHandler>>;
  /**
   * Default `auto`: WebRTC, and a websocket if the network blocks UDP. Calls created for `serverWebSocket` always use a
   * websocket.
   */
  readonly transport?: "auto" | "webRtc" | "webSocket";
  /** Wait for WebRTC media before a websocket is tried too; default 4 s. */
  readonly fallbackAfterMs?: number;
  /** Required for a call created for `serverWebSocket`: its sample rates. */
  readonly sampleRates?: SocketRates;
  /** URL of this package's `worklet.js`; needed only if a Content-Security-Policy forbids `blob:`. */
  readonly workletUrl?: string;
  /** STUN and TURN servers in addition to those of the service. */
  readonly iceServers?: readonly RTCIceServer[];
  /** `relay`: media use TURN servers only. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
  /** Aborts the attempt to join. End a joined call with `leave`. */
  readonly signal?: AbortSignal;
  /** Stored with the call, such as `shop/4.2`; at most 120 characters. */
  readonly clientVersion?: string;
  /** Requests `debug` messages. */
  readonly debug?: boolean;
  /** Shows the user's words in `transcripts` while they are spoken. They may still change until they are final. */
  readonly partials?: boolean;
}

/**
 * Opens the microphone, connects, and resolves when the call is joined. Listeners that are added synchronously get the
 * messages that the service has sent by then.
 * @throws CallError whose `code` says why; `signal.reason` when it was aborted. Nothing stays open then.
 */
export async function joinCall(joinUrl: string, options: JoinOptions = {}): Promise<Call> {
  const { clientVersion, debug = false, partials = false, signal = new AbortController().signal } = options;
  const query = { debug, partials, returns: true, ...(clientVersion === undefined ? {} : { clientVersion }) };
  const address = readJoinUrl(joinUrl, query);
  checkBrowser();
  const route = routeOf(address, options);
  signal.throwIfAborted();
  const blocked: { tell: (blocked: boolean) => void } = { tell: () => undefined };
  const sound = new Sound((isBlocked) => blocked.tell(isBlocked));
  const microphone = new Microphone(sound);
  try {
    await chooseMicrophone(microphone, options.microphone ?? {});
    if (options.outputDeviceId !== undefined) await sound.useDevice(options.outputDeviceId);
    const joined = await connect(route, sound, microphone.track, signal);
    const rejoin = (track: MediaStreamTrack, ended: AbortSignal) => connect(route, sound, track, ended);
    const call = new LiveCall({ joined, sound, microphone, rejoin });
    blocked.tell = (isBlocked) => call.audioBlocked(isBlocked);
    for (const [name, handler] of Object.entries(options.tools ?? {})) call.registerTool(name, handler);
    // The caller can add listeners before the first message is delivered.
    setTimeout(() => call.listen(joined), 0);
    return call;
  } catch (error) {
    microphone.close();
    sound.close();
    throw error;
  }
}

function routeOf(address: JoinAddress, options: JoinOptions): Route {
  if (!address.byWebRtc && options.sampleRates === undefined) {
    throw new CallError("bad_join_url", "A call created for serverWebSocket needs the option sampleRates.");
  }
  return {
    address,
    transport: options.transport ?? "auto",
    fallbackAfterMs: options.fallbackAfterMs ?? FALLBACK_AFTER_MS,
    iceServers: options.iceServers ?? [],
    iceTransportPolicy: options.iceTransportPolicy ?? "all",
    rates: address.byWebRtc ? null : (options.sampleRates ?? null),
    workletUrl: options.workletUrl ?? null,
  };
}

async function chooseMicrophone(microphone: Microphone, choice: MicrophoneChoice): Promise<void> {
  if (choice === false || choice instanceof MediaStreamTrack) await microphone.use(choice);
  else await microphone.use(await openMicrophone(choice), true);
}

function checkBrowser(): void {
  if (typeof window === "undefined" || typeof AudioContext === "undefined") {
    throw new CallError("unsupported", "Calls can only be joined in a browser with Web Audio.");
  }
}
