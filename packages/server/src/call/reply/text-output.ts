/**
 * Replies in text: not synthesized and not played. Their words are shown as they stream in, each once its
 * end is known; shown words count as said. So the text of such a reply is one segment that grows and is
 * always over, and the rest of the engine treats it as it treats what was heard. Rules R67 to R70 of SPEC.md.
 */

import { updateReply, type Draft } from "../draft.ts";
import { newSegment } from "./segment.ts";
import type { Reply, Segment } from "../state.ts";
import { isFull, showHeardWords } from "../history/transcript.ts";

/** A word is over at white space; scripts without spaces may be cut after any of their characters. */
const FINISHED_WORDS =
  /^[\s\S]*(?:\s|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}。！？，、])/u;

/** Shows the words that are complete. `begin` is called at the first word, as at the first sound of a voice. */
export function pumpText(draft: Draft, begin: (draft: Draft) => void): void {
  steer(draft);
  const { reply } = draft.state;
  if (reply === null || reply.playout !== "open") return;
  const before = reply.segments[0];
  const buffer = before === undefined ? reply.buffer.trimStart() : reply.buffer;
  const whole = reply.generation !== "running" || isFull(draft.state, reply);
  const finished = whole ? buffer : (FINISHED_WORDS.exec(buffer)?.[0] ?? "");
  // White space belongs to the word after it, and after the last one there is none.
  const words = finished.trimEnd();
  const rest = whole ? "" : buffer.slice(words.length);
  if (rest !== reply.buffer) updateReply(draft, { buffer: rest });
  if (words === "") return;
  const segment: Segment = before ?? {
    ...newSegment(draft, { lead: "", text: "", tones: null }),
    status: "played",
  };
  begin(draft);
  updateReply(draft, { segments: [{ ...segment, text: segment.text + words }] });
  showHeardWords(draft);
}

/** Text, too, waits while the user's speech or a lost transport holds it; no playout needs an effect. */
function steer(draft: Draft): void {
  const { reply, connection } = draft.state;
  if (reply === null || !reply.committed) return;
  const held = reply.heldBy !== null || connection.kind === "lost";
  const playout: Reply["playout"] = held ? (reply.playout === "open" ? "paused" : reply.playout) : "open";
  if (playout !== reply.playout) updateReply(draft, { playout });
}
