/** The two participants of a room: the user and the agent. */

import {
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  ParticipantPermission,
  TrackInfo,
  TrackSource,
  TrackType,
} from "@livekit/protocol";
import { AGENT_SID, AGENT_TRACK_SID } from "./room-sdp.ts";

export const AGENT_IDENTITY = "agent";
export const USER_IDENTITY = "user";

const OPUS_TYPE = "audio/opus";

export function agentParticipant(joinedAtMs: number): ParticipantInfo {
  const track = new TrackInfo({
    sid: AGENT_TRACK_SID,
    type: TrackType.AUDIO,
    name: "audio",
    source: TrackSource.MICROPHONE,
    mimeType: OPUS_TYPE,
    stream: "microphone",
  });
  return participant({
    sid: AGENT_SID,
    identity: AGENT_IDENTITY,
    kind: ParticipantInfo_Kind.AGENT,
    tracks: [track],
    joinedAtMs,
  });
}

export function userParticipant(sid: string, joinedAtMs: number): ParticipantInfo {
  const kind = ParticipantInfo_Kind.STANDARD;
  return participant({ sid, identity: USER_IDENTITY, kind, tracks: [], joinedAtMs });
}

interface ParticipantParts {
  readonly sid: string;
  readonly identity: string;
  readonly kind: ParticipantInfo_Kind;
  readonly tracks: TrackInfo[];
  readonly joinedAtMs: number;
}

function participant({ sid, identity, kind, tracks, joinedAtMs }: ParticipantParts): ParticipantInfo {
  return new ParticipantInfo({
    sid,
    identity,
    name: identity,
    kind,
    tracks,
    state: ParticipantInfo_State.ACTIVE,
    joinedAt: BigInt(Math.floor(joinedAtMs / 1_000)),
    version: 1,
    isPublisher: true,
    permission: new ParticipantPermission({ canSubscribe: true, canPublish: true, canPublishData: true }),
  });
}
