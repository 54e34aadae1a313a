/** What is read from and written to the session descriptions of LiveKit clients. */

import { BadSdpError, checkedMedia, midOf, sectionsOf } from "../rtc/sdp.ts";

/** A browser's offer with three video lines and all their codecs has about 600. */
const MAX_LINES = 3_000;
/** That offer has some 20 KB. */
const MAX_OFFER_LENGTH = 64 * 1_024;
/** New clients begin with seven, and each track that they publish later has one of its own. */
const MAX_MEDIA = 32;

/** Names of the agent and its track, by which clients know whose audio they get. */
export const AGENT_SID = "PA_agent";
export const AGENT_TRACK_SID = "TR_agent_audio";

/**
 * The offer, checked and without its candidates. Unlike those of our own clients it may have several lines of audio and
 * video. Throws BadSdpError.
 */
export function checkedRoomOffer(sdp: string): string {
  if (sdp.length > MAX_OFFER_LENGTH) throw new BadSdpError("has more than 64 KB");
  const checked = checkedMedia(sdp, MAX_LINES, (kinds) => {
    if (kinds.length > MAX_MEDIA) {
      throw new BadSdpError(`has more than ${String(MAX_MEDIA)} media (m=)`);
    }
    if (kinds.filter((kind) => kind === "application").length !== 1) {
      throw new BadSdpError("must have exactly one line for data channels (m=application)");
    }
    const other = kinds.find((kind) => !["audio", "video", "application"].includes(kind));
    if (other !== undefined) throw new BadSdpError("must have no media but audio, video and data channels");
  });
  const offer = sectionsOf(checked).map(withoutSources).join("");
  if (speakingLine(offer) === null) throw new BadSdpError("must have an audio line that receives");
  return offer;
}

/** Video is not received here, and the library keeps a receiver for each source and layer that is named. */
function withoutSources(section: string): string {
  if (!section.startsWith("m=video ")) return section;
  return section.replace(/^a=(?:rid|simulcast|ssrc|ssrc-group):.*\r\n/gm, "");
}

/** Whether each line of an offer is at its place in a later one, as it must be (RFC 8829, section 5.2.2). */
export function keepsLines(before: string, later: string): boolean {
  const [old, now] = [before, later].map((offer) => sectionsOf(offer).slice(1)) as [string[], string[]];
  return old.every((section, index) => {
    const same = now[index];
    return same !== undefined && kindOf(same) === kindOf(section) && midOf(same) === midOf(section);
  });
}

function kindOf(section: string): string {
  return section.split(" ", 1)[0] ?? "";
}

/** The mid of the first audio line on which the client receives; null: there is none. */
export function speakingLine(offer: string): string | null {
  const line = sectionsOf(offer).find(
    (section) => section.startsWith("m=audio ") && !/^a=(?:sendonly|inactive)\r$/m.test(section),
  );
  return line === undefined ? null : midOf(line);
}

/** The answer with the names of the agent's track, which clients read from the identifiers of the stream. */
export function roomAnswer(answer: string, speaking: string): string {
  return sectionsOf(answer)
    .map((section, index) => {
      if (index === 0) return section;
      const plain = section.replace(/^a=(?:msid:.*|ssrc:\d+ msid:.*)\r\n/gm, "");
      if (midOf(plain) !== speaking) return plain;
      return `${plain}a=msid:${AGENT_SID}|${AGENT_TRACK_SID} ${AGENT_TRACK_SID}\r\n`;
    })
    .join("");
}
