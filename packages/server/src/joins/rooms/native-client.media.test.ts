/** A client on LiveKit's Rust SDK (its library for Node) in a room. */

import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from "@livekit/rtc-node";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../ports/testing/transport-conformance.ts";
import { openRoomWorld } from "./testing/room-world.ts";

const RATE_HZ = 16_000;
const FRAME = 320;

test("a client in Rust hears the agent, is heard, exchanges messages and learns of the end", async () => {
  const world = await openRoomWorld();
  onTestFinished(() => world.close());
  const { roomInfo, codes } = await world.openRoomSocket();
  const room = new Room();
  onTestFinished(() => room.disconnect());
  const messages: string[] = [];
  const ends: DisconnectReason[] = [];
  let heard = 0;
  room.on(RoomEvent.DataReceived, (payload) => messages.push(Buffer.from(payload).toString()));
  room.on(RoomEvent.Disconnected, (reason) => ends.push(reason));
  room.on(RoomEvent.TrackSubscribed, (track) => {
    void (async () => {
      const frames = new AudioStream(track, { sampleRate: RATE_HZ, numChannels: 1 });
      for await (const { data } of frames) if (data.some((sample) => Math.abs(sample) > 100)) heard += 1;
    })();
  });
  await room.connect(roomInfo.roomUrl, roomInfo.token, { autoSubscribe: true, dynacast: false });
  await eventually(() => world.transport !== null, "the call");

  world.transport?.sendData({ type: "pong", timestamp: 5 });
  await eventually(() => messages.length === 1, "a message of the agent");
  expect(messages).toEqual(['{"type":"pong","timestamp":5}']);
  const frame = Int16Array.from({ length: FRAME }, (_, n) => 8_000 * Math.sin((2 * Math.PI * n) / 40));
  const speaking = setInterval(() => world.transport?.sendAudio(frame), 20);
  onTestFinished(() => clearInterval(speaking));
  await eventually(() => heard > 5, "the agent's speech");

  const user = room.localParticipant;
  await user?.publishData(new TextEncoder().encode('{"type":"ping","timestamp":1}'), { reliable: true });
  await eventually(() => world.record.texts.length === 1, "a message of the user");
  const source = new AudioSource(RATE_HZ, 1);
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
  await user?.publishTrack(LocalAudioTrack.createAudioTrack("microphone", source), options);
  const isHeard = (): boolean => world.record.samples().some((sample) => Math.abs(sample) > 1_000);
  for (let frames = 0; frames < 100 && !isHeard(); frames += 1) {
    await source.captureFrame(new AudioFrame(frame, RATE_HZ, 1, FRAME));
  }
  await eventually(isHeard, "the user's speech");

  world.transport?.close(1000, "");
  await eventually(() => ends.length === 1 && codes.length === 1, "the end");
  expect([ends, codes]).toEqual([[DisconnectReason.ROOM_DELETED], [1000]]);
}, 60_000);
