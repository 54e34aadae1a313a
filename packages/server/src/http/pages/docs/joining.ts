/** The part of the reference page that explains how a client joins a call by websocket. */

import {
  AUDIO_PROTOCOL,
  DEFAULT_CLIENT_BUFFER_MS,
  DEFAULT_JOIN_TIMEOUT,
  MAX_AUDIO_RATE_HZ,
  MAX_DATA_MESSAGE_BYTES,
  MIN_AUDIO_RATE_HZ,
} from "@parley/schema";
import { type Card, codeBlock, factsTable, proseCard } from "./card.ts";
import { html, type Html } from "./html.ts";
import { prose } from "./schema-view.ts";

/** Codes with which the service or the network closes a socket, and what a client does then. */
export const CLOSE_CODES: readonly (readonly [code: string, meaning: string, next: string])[] = [
  ["1000", "The call ended normally.", "`endReason` of the call says why."],
  [
    "1001",
    "Another connection of the call replaced this one, because this one no longer answered.",
    "The call continues there.",
  ],
  [
    "1002, 1007",
    "A frame breaks the websocket protocol, or a text frame is not UTF-8.",
    "Correct the client.",
  ],
  [
    "1003",
    "The stream of a carrier did not begin within 10 s, or has audio of a form that the service does not take.",
    "Correct the carrier's stream directive.",
  ],
  ["1006", "No close frame: the network was lost.", "Connect again."],
  ["1009", "A frame is larger than 1 MiB.", "Send smaller frames."],
  ["1011", "Something failed in the service.", "The call has ended with `system_error`."],
  ["1012", "The service restarts.", "Connect again; 410 means that the call ended with the restart."],
  [
    "4406",
    "The URL is for WebRTC, and the client did not join the LiveKit room that the socket named within 60 s.",
    "POST an offer to it, or create the call with the medium `serverWebSocket`.",
  ],
  ["4408", "No audio arrived for `mediaIdleTimeout`.", "The call has ended with `connection_error`."],
  ["4409", "The call is already joined by another connection.", "Create another call."],
  ["4410", "The call ended at this moment.", "Create another call."],
];

/** Runs with Node 22 or later and no dependencies. */
export const CLIENT_PROGRAM = `// talk.mjs: node talk.mjs JOIN_URL [speech.raw]     (16-bit mono at RATE, no header)
import { readFileSync, writeFileSync } from "node:fs";

const RATE = 16000; // inputSampleRate of the call's medium
const FRAME = (RATE / 50) * 2; // bytes of 20 ms
const [joinUrl, file] = process.argv.slice(2);
const speech = file ? readFileSync(file) : Buffer.alloc(0);
const socket = new WebSocket(joinUrl);
socket.binaryType = "arraybuffer";
let heard = []; // a real client plays this at RATE as it arrives

socket.onopen = () => {
  const startedMs = performance.now();
  let sent = 0;
  setInterval(() => {
    // As many frames as are due by the clock, so that a late timer loses nothing.
    for (; sent * 20 <= performance.now() - startedMs; sent += 1) {
      const frame = Buffer.alloc(FRAME); // silence, when there is nothing to say
      speech.subarray(sent * FRAME, (sent + 1) * FRAME).copy(frame);
      if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    }
  }, 10);
};
socket.onmessage = ({ data }) => {
  if (typeof data !== "string") return void heard.push(Buffer.from(data));
  const message = JSON.parse(data);
  if (message.type === "state") console.log("agent is", message.state);
  if (message.type === "transcript" && message.final) console.log(message.role + ":", message.text);
  // Here a real client empties its loudspeaker's buffer; what was written to a file stays.
  if (message.type === "playback_clear_buffer") console.log("interrupted");
};
socket.onclose = ({ code, reason }) => {
  writeFileSync("heard.raw", Buffer.concat(heard));
  console.log("over:", code, reason);
  process.exit();
};
process.on("SIGINT", () => socket.close(1000)); // hangs up`;

const text = (words: string): Html => html`<p>${prose(words)}</p>`;
const row = (name: string, words: string): readonly [Html, Html] => [html`${name}`, text(words)];

function connecting(): Card {
  return proseCard(
    "join",
    "Connect",
    "joinurl websocket connect upgrade subprotocol token browser timeout",
    html`${text(
      "Open the `joinUrl` of a call as a websocket. It is the only credential: no key, no header and no subprotocol is " +
        "needed, so a browser can use it directly. Use the URL unchanged; its parts may change.",
    )}
    ${factsTable([
      row(
        "Valid for",
        `One client, from the creation of the call until \`joinTimeout\` (${DEFAULT_JOIN_TIMEOUT} unless set) has passed.`,
      ),
      row(
        "Refused",
        "Before the upgrade, with a problem as the body: 404 for a URL that was never valid, 410 for one whose call " +
          "has ended or was not joined in time, 503 with `Retry-After` when there is no capacity. Scripts in a " +
          "browser see none of these, only the close code 1006.",
      ),
      row(
        "First messages",
        "`call_started`, then a `state`, then all others in order. Audio may arrive before them.",
      ),
      row("Frames", "Binary frames are audio, text frames are data messages: one JSON object each."),
      row(
        "Limits of data messages",
        "At most 20 a second; up to 200 more wait, and beyond that they are dropped with a call event of the type " +
          "`data_message.limited`. At most 1,000 typed texts a call. The result of a tool that the call waits for is " +
          "never delayed or dropped. What `clientMessages` of the call does not allow is refused with " +
          "`data_message.refused`.",
      ),
      row(
        "Data messages",
        `At most ${MAX_DATA_MESSAGE_BYTES / 1024} KiB. One that cannot be read, or has an unknown \`type\`, is dropped ` +
          "with a call event of the type `data_message.invalid` or `data_message.unknown`; the call continues. " +
          "`dataMessages` of the medium selects which ones are sent. Ignore types and fields that you do not know.",
      ),
    ])}`,
  );
}

function audio(): Card {
  return proseCard(
    "join-audio",
    "Audio",
    "pcm s16le sample rate frames silence pace pacing buffer underflow overflow interruption",
    factsTable([
      row("Format", "Raw samples without a header: 16-bit signed integers, little-endian, one channel."),
      row(
        "Rates",
        `\`inputSampleRate\` towards the service, \`outputSampleRate\` (unset: the same) from it; ` +
          `${MIN_AUDIO_RATE_HZ} to ${MAX_AUDIO_RATE_HZ} Hz each.`,
      ),
      row(
        "Frames you send",
        "Any length up to one second; 20 ms is usual. A longer frame is dropped, and so is an odd last byte.",
      ),
      row("Frames you get", "20 ms each, while the agent speaks. None while it is silent."),
      row(
        "Your pace",
        "One second of audio per second, silence included. Audio that is late by more than 200 ms is replaced by silence " +
          "(call event `media.underflow`). Audio that arrives too fast is buffered for up to one second, then the oldest " +
          "is dropped (`media.overflow`). With `mediaIdleTimeout` set, a call without audio ends.",
      ),
      row(
        "Our pace",
        `Audio is sent at playback speed, at most \`clientBufferSizeMs\` (${DEFAULT_CLIENT_BUFFER_MS} unless ` +
          "set) ahead, so play it as it arrives. From this the service computes what the user has heard.",
      ),
      row(
        "Interruptions",
        "When the user speaks, audio stops and `playback_clear_buffer` follows the last frame: drop what you have not " +
          "played. If it was only a cough, the agent continues where it was interrupted. Transcripts and the model's " +
          "history contain only what was heard.",
      ),
    ]),
  );
}

function closing(): Card {
  const rows = CLOSE_CODES.map(([code, meaning, next]): readonly [Html, Html] => [
    html`<code>${code}</code>`,
    html`<p>${prose(meaning)} <span class="soft">${prose(next)}</span></p>`,
  ]);
  return proseCard(
    "join-close",
    "Hang up and reconnect",
    "close codes reconnect hangup keepalive ping grace",
    html`${factsTable([
        row("Hang up", "Close the socket with 1000, 1001 or no code: the call ends with `hangup`."),
        row(
          "Reconnect",
          "A connection that is lost in any other way may be opened again at the same URL within ten seconds (or what the " +
            "deployment sets). The state is sent again; audio and messages in between are lost. After that time the " +
            "call ends with `connection_error`.",
        ),
        row(
          "Keepalive",
          "The service sends a websocket ping every 15 seconds, which client libraries answer by themselves. A client " +
            "that is silent for 30 seconds counts as lost.",
        ),
      ])}
      <h4>Close codes</h4>
      ${factsTable(rows)}`,
  );
}

function client(): Card {
  return proseCard(
    "join-client",
    "A complete client",
    "example javascript node program talk",
    html`${text(
      "Needs only Node 22 or later. Without a file it sends silence and receives the greeting. It saves the audio that " +
        "it received.",
    )}
    ${codeBlock("talk.mjs", CLIENT_PROGRAM)}`,
  );
}

function byWebRtc(): Card {
  return proseCard(
    "join-webrtc",
    "WebRTC",
    "webrtc browser sdp offer answer ice stun turn opus data channel restart whip",
    html`${text(
      "A call over `webRtc` is joined by an HTTP request: POST your SDP offer as `application/sdp` to the `joinUrl`, " +
        "with `http` instead of `ws`. The response is 201 with the SDP answer. Any origin is allowed; no key is needed.",
    )}
    ${factsTable([
      row(
        "Offer",
        "One audio line with Opus in both directions. No video. Candidates may be left out: those in the answer are enough.",
      ),
      row(
        "Data messages",
        "Create a data channel named `messages` (ordered, reliable) before the offer: it carries one JSON object per " +
          "message in both directions. `playback_clear_buffer` is off unless requested, because nothing is buffered.",
      ),
      row("Location", "The connection. DELETE it to hang up; closing the connection does the same."),
      row("Link", 'STUN and TURN servers (`rel="ice-server"`), where the deployment names some.'),
      row(
        "Restart",
        "PATCH the `Location` with new ICE credentials as `application/trickle-ice-sdpfrag`; the response is 200 with those of " +
          "the other side. A PATCH with candidates only is answered with 204.",
      ),
      row("Joined", "When media flow, not with the answer. A new offer may be sent if a connection fails."),
      row(
        "Without UDP",
        "Where no media arrive, open a websocket at the `joinUrl` with the subprotocol " +
          `\`${AUDIO_PROTOCOL}\`: audio as above, at 16 kHz in both directions, with \`playback_clear_buffer\`. A running call may ` +
          "change to it and back. The browser library does all of this.",
      ),
      row(
        "LiveKit clients",
        "A websocket without that subprotocol gets one message, `room_info` with `roomUrl` and `token`. A LiveKit client that " +
          "connects to that room speaks with the agent; data messages are reliable data packets.",
      ),
      row("Lost", "Without any packet for ten seconds the call ends with `connection_error`."),
    ])}`,
  );
}

/** Everything about joining except the operation itself. */
export function joiningCards(): Card[] {
  return [connecting(), audio(), closing(), client(), byWebRtc()];
}
