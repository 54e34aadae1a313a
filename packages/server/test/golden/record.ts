/**
 * Records the event logs of `fixtures/event-logs` again: `node packages/server/test/golden/record.ts [name ...]`, all
 * of them without a name. Do this when the engine's behaviour changes on purpose, and read the difference before it
 * is committed. Each conversation of `conversations.ts` is scored window by window by the real detector and simulated
 * with fakes for recogniser, model and voice. Stored scores are kept where the detector still gives them within the
 * tolerance, so that another processor's arithmetic changes no file.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { CONVERSATIONS, type Conversation } from "./conversations.ts";
import { formatLog, logUrl, parseLog, readLogText, scoresOf, type EventLog } from "./event-log.ts";
import { AFTER_SOUNDS_LIMIT_MS, simulate } from "./simulate.ts";
import { disagreements, openRealVad, scoreSounds, soundsEndMs, windowsFor } from "./sound-track.ts";

function withStored({ name }: Conversation, scores: readonly number[]): readonly number[] {
  if (!existsSync(logUrl(name))) return scores;
  const stored = scoresOf(parseLog(readLogText(name)).steps);
  const agree = disagreements(scores.slice(0, stored.length), stored).length === 0;
  return agree ? [...stored, ...scores.slice(stored.length)] : scores;
}

function describe({ head, summary }: EventLog, bytes: number): string {
  const { utterances, replies, pauses, endReason } = summary;
  return [
    `${head.name} (${Math.ceil(bytes / 1024)} KB): ${head.about}`,
    ...utterances.map(
      ({ fromMs, speechEndMs, endMs, transcriptsAsked, text }) =>
        `  turn ${fromMs}..${speechEndMs} ended ${endMs}, asked ${transcriptsAsked}: ${text ?? "(none)"}`,
    ),
    ...replies.map(
      ({ replyId, askedMs, spokenMs, outcome, endMs, text }) =>
        `  reply ${replyId} asked ${askedMs} spoken ${spokenMs ?? "-"} ${outcome} ${endMs ?? "-"}: ${text ?? ""}`,
    ),
    ...pauses.map(
      ({ replyId, pausedMs, outcome, endMs }) =>
        `  reply ${replyId} paused ${pausedMs}, ${outcome} ${endMs ?? "-"}`,
    ),
    `  end: ${endReason ?? "none"}`,
    "",
  ].join("\n");
}

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => CONVERSATIONS.every((conversation) => conversation.name !== name));
if (unknown.length > 0) throw new Error(`no such conversation: ${unknown.join(", ")}`);
mkdirSync(new URL(".", logUrl("any")), { recursive: true });
const engine = await openRealVad();
for (const conversation of CONVERSATIONS) {
  if (requested.length > 0 && !requested.includes(conversation.name)) continue;
  const windows = windowsFor(soundsEndMs(conversation.sounds) + AFTER_SOUNDS_LIMIT_MS);
  const scores = await scoreSounds(engine, conversation.sounds, windows);
  const log = simulate(conversation, withStored(conversation, scores));
  const text = formatLog(log);
  writeFileSync(logUrl(conversation.name), text);
  process.stdout.write(describe(log, Buffer.byteLength(text)));
}
await engine.close();
