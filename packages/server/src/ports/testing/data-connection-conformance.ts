/** Conformance suite for data connections over any network; each adapter's test file registers it. */

import { afterEach, describe, expect, it } from "vitest";
import type { DataConnection, DataConnectionListener, DataConnectionRequest } from "../data-connection.ts";
import { until } from "./until.ts";

/** The other side, as the user's server sees it. */
export interface DataConnectionPeer {
  /** Samples received so far, joined. */
  audio(): Int16Array;
  messages(): readonly unknown[];
  /** Whether a connection is open on this side. */
  isOpen(): boolean;
  sendText(text: string): void;
  sendBinary(): void;
  /** Disappears; a later attempt connects again. */
  vanish(): void;
}

export interface DataConnectionUnderTest {
  readonly connection: DataConnection;
  readonly peer: DataConnectionPeer;
  /** Releases everything that the test has opened. */
  close(): Promise<void>;
}

type OpenUnderTest = (
  request: Omit<DataConnectionRequest, "websocketUrl">,
  listener: DataConnectionListener,
) => Promise<DataConnectionUnderTest>;

const REQUEST = { callId: "call-1", headers: {}, sharedSecrets: [] };

export function describeDataConnection(name: string, open: OpenUnderTest): void {
  describe(`the data connection of ${name}`, () => {
    const opened: DataConnectionUnderTest[] = [];

    afterEach(async () => {
      for (const under of opened.splice(0)) await under.close();
    });

    async function connect() {
      const heard: string[] = [];
      const listener: DataConnectionListener = {
        opened: () => heard.push("opened"),
        data: (text, tooLong) => heard.push(tooLong ? "too long" : `data ${text}`),
        problem: (problem) => heard.push(`problem ${problem}`),
        lost: (_detail, willRetry) => heard.push(willRetry ? "lost, tries again" : "lost"),
        failed: () => heard.push("failed"),
      };
      const under = await open(REQUEST, listener);
      opened.push(under);
      await until(() => heard.includes("opened") && under.peer.isOpen());
      return { ...under, heard };
    }

    it("carries messages both ways in their order", async () => {
      const { connection, peer, heard } = await connect();
      for (const timestamp of [1, 2, 3]) connection.send({ type: "pong", timestamp });
      await until(() => peer.messages().length === 3);
      expect(peer.messages()).toEqual([1, 2, 3].map((timestamp) => ({ type: "pong", timestamp })));
      peer.sendText("one");
      peer.sendText("two");
      await until(() => heard.length === 3);
      expect(heard).toEqual(["opened", "data one", "data two"]);
    });

    it("carries frames as they are at the moment of sending", async () => {
      const { connection, peer } = await connect();
      const frame = Int16Array.from([1, -2, 32_767, -32_768]);
      expect(connection.sendAudio(frame)).toBe(true);
      frame.fill(0);
      await until(() => peer.audio().length === 4);
      expect([...peer.audio()]).toEqual([1, -2, 32_767, -32_768]);
    });

    it("takes no audio, and says so once", async () => {
      const { peer, heard } = await connect();
      peer.sendBinary();
      peer.sendBinary();
      peer.sendText("after");
      await until(() => heard.includes("data after"));
      expect(heard).toEqual(["opened", "problem data_connection_audio_ignored", "data after"]);
    });

    it("drops what is sent while there is no connection", async () => {
      const { connection, peer, heard } = await connect();
      peer.vanish();
      await until(() => heard.includes("lost, tries again"));
      connection.send({ type: "pong", timestamp: 9 });
      expect(connection.sendAudio(new Int16Array(4))).toBe(false);
      expect(peer.messages()).toEqual([]);
    });

    it("is closed for good, and the listener hears nothing more", async () => {
      const { connection, peer, heard } = await connect();
      await connection.close();
      await connection.close();
      await until(() => !peer.isOpen());
      connection.send({ type: "pong", timestamp: 1 });
      expect(connection.sendAudio(new Int16Array(4))).toBe(false);
      expect(heard).toEqual(["opened"]);
      expect(peer.messages()).toEqual([]);
    });
  });
}
