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

/** Bounds the wait for WebRTC before a websocket is tried beside it. UDP that passes has done so in a second or two. */
const FALLBACK_AFTER_MS = 4_000;

export interface JoinOptions {
  /** Default: the system's microphone, with echo cancellation. `false`: the agent hears silence, for calls by text. */
  readonly microphone?: MicrophoneChoice;
  /** The device that plays the agent. Default: the system's own choice. */
  readonly outputDeviceId?: string;
  /** Client tools by their names; more by `registerTool`. */
  readonly tools?: Readonly<Record<string, ToolHandler>>;
  /**
   * Default `auto`: WebRTC, and a websocket where the network lets no UDP through. Calls made for `serverWebSocket` go by
   * websocket in any case.
   */
  readonly transport?: "auto" | "webRtc" | "webSocket";
  /** Wait for media by WebRTC before a websocket is tried as well; default 4 s. */
  readonly fallbackAfterMs?: number;
  /** Needed for a call made for `serverWebSocket`: the rates it was made with. */
  readonly sampleRates?: SocketRates;
  /** Where the page serves this package's `worklet.js`; needed only where a Content-Security-Policy forbids `blob:`. */
  readonly workletUrl?: string;
  /** STUN and TURN servers besides those that the service names. */
  readonly iceServers?: readonly RTCIceServer[];
  /** `relay`: media go by TURN servers only. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
  /** Ends the attempt to join. A call that has been joined is ended by `leave`. */
  readonly signal?: AbortSignal;
  /** Kept with the call, such as `shop/4.2`; at most 120 characters. */
  readonly clientVersion?: string;
  /** Asks for `debug` messages. */
  readonly debug?: boolean;
}

/**
 * Asks for the microphone, connects, and resolves when the call is joined. What the service has said by then is told to
 * listeners that are added at once.
 * @throws CallError whose `code` says why; `signal.reason` when it was aborted. Nothing stays open then.
 */
export async function joinCall(joinUrl: string, options: JoinOptions = {}): Promise<Call> {
  const { clientVersion, debug = false, signal = new AbortController().signal } = options;
  const query = { debug, ...(clientVersion === undefined ? {} : { clientVersion }) };
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
    // Whoever waits for this function adds listeners before the first message is told.
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
    throw new CallError("bad_join_url", "A call made for serverWebSocket needs the option sampleRates.");
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
    throw new CallError("unsupported", "Calls are joined from a page in a browser that has Web Audio.");
  }
}
