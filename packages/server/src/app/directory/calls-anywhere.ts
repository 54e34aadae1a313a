/** Operations on calls wherever they run: here at once, otherwise by the node that has the call. */

import type { Logger } from "pino";
import type { HttpDeps } from "../../http/deps.ts";
import type {
  JoinLookup,
  WebRtcAnswer,
  WebRtcPatched,
  WebRtcRenegotiated,
  WebRtcSignalling,
} from "../../joins/api.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CallDirectory, CallOperation } from "../../ports/nodes/call-directory.ts";
import type { LiveCalls, SendOutcome } from "../../runner/live-calls.ts";

const ELSEWHERE = { kind: "elsewhere" } as const;

export interface AnywhereDeps {
  readonly directory: CallDirectory;
  readonly liveCalls: Pick<
    LiveCalls,
    "accountOf" | "endCall" | "endUnjoined" | "joinState" | "noteAnswerer" | "sendToCall"
  >;
  /** Claims a call that nobody has joined for this process, which then waits for its join here. */
  readonly claimJoin: (callId: string) => Promise<JoinLookup>;
  readonly logger: Pick<Logger, "warn">;
}

export type CallsAnywhere = Pick<HttpDeps, "sendToCall" | "endUnjoined">;

export function callsAnywhere({ directory, liveCalls, claimJoin }: AnywhereDeps): CallsAnywhere {
  return {
    async sendToCall(callId, message) {
      const here = liveCalls.sendToCall(callId, message);
      if (here === "accepted") return here;
      // A call that waits here may be joined at another node, which this one learns within two seconds.
      const sent = await directory.forward(callId, { kind: "send", message });
      if (sent.kind === "no_owner") return (await isOrphan(directory, callId)) ? "elsewhere" : here;
      if (sent.kind === "unreachable") return "elsewhere";
      const answer = SEND_OUTCOMES.find((outcome) => outcome === sent.answer);
      return answer ?? "elsewhere";
    },
    async endUnjoined(callId) {
      const { state, holder } = await directory.ownerOf(callId);
      if (state !== "waiting") return "not_waiting";
      if (holder === "other") {
        const sent = await directory.forward(callId, { kind: "endUnjoined" });
        if (sent.kind === "answered") return sent.answer === true ? "ended" : "not_waiting";
        if (sent.kind === "unreachable") return "elsewhere";
      }
      // Nobody has it, so that this process starts it to end it.
      const isHere = liveCalls.joinState(callId) !== "not_live";
      if (!isHere && (await claimJoin(callId)) !== "ok") return "elsewhere";
      return liveCalls.endUnjoined(callId) ? "ended" : "not_waiting";
    },
  };
}

const SEND_OUTCOMES: readonly SendOutcome[] = ["accepted", "not_joined", "not_live"];

/** It is joined, and its process is gone. */
async function isOrphan(directory: CallDirectory, callId: string): Promise<boolean> {
  const { state, holder } = await directory.ownerOf(callId);
  return state === "joined" && holder === "nobody";
}

/** Connections over WebRTC wherever they are. Their media go to the node that has answered the offer. */
export function webRtcAnywhere(
  { directory, liveCalls }: Pick<AnywhereDeps, "directory" | "liveCalls">,
  here: WebRtcSignalling,
): WebRtcSignalling {
  const isHere = async (callId: string): Promise<boolean> =>
    liveCalls.accountOf(callId) !== null && (await directory.ownerOf(callId)).holder !== "other";
  const forward = async (callId: string, operation: CallOperation): Promise<unknown> => {
    const sent = await directory.forward(callId, operation);
    if (sent.kind === "unreachable") return ELSEWHERE;
    return sent.kind === "no_owner" ? null : sent.answer;
  };
  return {
    iceServerLinks: here.iceServerLinks,
    async offer(input) {
      const { callId, ...offered } = input;
      if (await isHere(callId)) return here.offer(input);
      const answer = await forward(callId, { kind: "offer", ...offered });
      return isAnswer(answer) ? answer : ELSEWHERE;
    },
    async patch(connection, text) {
      const { callId, connectionId } = connection;
      const patchedHere = await here.patch(connection, text);
      if (patchedHere.kind !== "unknown") return patchedHere;
      const patched = await forward(callId, { kind: "patch", connectionId, text });
      return isPatched(patched) ? patched : { kind: "unknown" };
    },
    async renegotiate(connection, sdp) {
      const { callId, connectionId } = connection;
      const answeredHere = await here.renegotiate(connection, sdp);
      if (answeredHere.kind !== "unknown") return answeredHere;
      const answer = await forward(callId, { kind: "renegotiate", connectionId, sdp });
      return isRenegotiated(answer) ? answer : { kind: "unknown" };
    },
    async hangUp(connection) {
      const { callId, connectionId } = connection;
      if ((await here.hangUp(connection)) === "done") return "done";
      const hungUp = await forward(callId, { kind: "hangUp", connectionId });
      if (hungUp === ELSEWHERE) return "elsewhere";
      return hungUp === "done" ? "done" : "unknown";
    },
  };
}

/** The process that answers is one of this deployment. */
function isAnswer(value: unknown): value is WebRtcAnswer {
  return hasKind(value);
}

function isRenegotiated(value: unknown): value is WebRtcRenegotiated {
  return hasKind(value);
}

function isPatched(value: unknown): value is WebRtcPatched {
  return hasKind(value);
}

function hasKind(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}

/** What callbacks and transfers of carriers do with calls. */
export type CarrierCalls = Pick<LiveCalls, "endCall" | "endUnjoined" | "noteAnswerer" | "sendToCall">;

/**
 * The same for calls of any node. What a call of another one is told is sent without waiting: a failure is logged, and
 * the stream or the join timeout ends the call.
 */
export function carrierCallsAnywhere({
  directory,
  liveCalls,
  logger,
}: Pick<AnywhereDeps, "directory" | "liveCalls" | "logger">): CarrierCalls {
  const tell = async (callId: string, operations: readonly CallOperation[]): Promise<void> => {
    for (const operation of operations) {
      const sent = await directory.forward(callId, operation);
      // An end follows a message that was not taken.
      if (sent.kind !== "answered" || sent.answer === true || sent.answer === "accepted") return;
    }
  };
  const tellLater = (callId: string, operations: readonly CallOperation[]): void => {
    tell(callId, operations).catch((error: unknown) => {
      logger.warn(
        { callId, error: messageOf(error) },
        "a call of another node did not get a message from its carrier",
      );
    });
  };
  const isElsewhere = (callId: string): boolean => liveCalls.accountOf(callId) === null;
  return {
    // The caller ends the call where this is false.
    endUnjoined: (callId) => liveCalls.endUnjoined(callId),
    // Other nodes find it in the database.
    noteAnswerer: (callId, answerer) => liveCalls.noteAnswerer(callId, answerer),
    endCall(callId) {
      if (!isElsewhere(callId)) return liveCalls.endCall(callId);
      tellLater(callId, [{ kind: "end" }]);
      return false;
    },
    sendToCall(callId, message) {
      if (!isElsewhere(callId)) return liveCalls.sendToCall(callId, message);
      tellLater(callId, [{ kind: "send", message }, { kind: "end" }]);
      return "accepted";
    },
  };
}
