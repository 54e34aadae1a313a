/** A UDP socket of somebody who is not the caller. */

import { createSocket } from "node:dgram";
import type { Place } from "./client-inside.ts";

export interface Stranger {
  /** Datagrams that came back. */
  readonly answers: number;
  send(data: Buffer, to: Place): Promise<void>;
  close(): void;
}

export async function openStranger(): Promise<Stranger> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  let answers = 0;
  socket.on("message", () => (answers += 1));
  return {
    get answers() {
      return answers;
    },
    send: (data, [address, port]) =>
      new Promise((resolve, reject) => {
        socket.send(data, port, address, (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => socket.close(),
  };
}
