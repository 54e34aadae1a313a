/** Fake data connections without a network: they record what is sent, and the test plays the other side. */

import type { ServerDataMessage } from "@parley/schema";
import type {
  DataConnection,
  DataConnectionListener,
  DataConnectionProblem,
  DataConnectionRequest,
  OpenDataConnection,
} from "../data-connection.ts";

export interface FakeDataConnection extends DataConnection {
  readonly request: DataConnectionRequest;
  readonly frames: Int16Array[];
  readonly messages: ServerDataMessage[];
  /** We have closed it. */
  readonly closed: boolean;
  /** The other side accepts. */
  accept(): void;
  /** The other side sends a text frame. */
  read(text: string, tooLong?: boolean): void;
  /** The other side sends a binary frame. */
  readBinary(): void;
  notice(problem: DataConnectionProblem): void;
  lose(detail: string, willRetry: boolean): void;
  fail(detail: string): void;
}

export interface FakeDataConnections {
  readonly open: OpenDataConnection;
  /** All connections, in the order of opening. */
  readonly connections: FakeDataConnection[];
}

export function openFakeDataConnections(): FakeDataConnections {
  const connections: FakeDataConnection[] = [];
  return {
    connections,
    open: (request, listener) => {
      const connection = openFake(request, listener);
      connections.push(connection);
      return connection;
    },
  };
}

function openFake(request: DataConnectionRequest, listener: DataConnectionListener): FakeDataConnection {
  const frames: Int16Array[] = [];
  const messages: ServerDataMessage[] = [];
  let open = false;
  let closed = false;
  let isAudioReported = false;
  return {
    request,
    frames,
    messages,
    get closed() {
      return closed;
    },
    sendAudio: (frame) => {
      if (open && !closed) frames.push(frame.slice());
      return open && !closed;
    },
    send: (message) => {
      if (open && !closed) messages.push(structuredClone(message));
    },
    close: () => {
      closed = true;
      return Promise.resolve();
    },
    accept: () => {
      if (closed || open) return;
      open = true;
      listener.opened();
    },
    read: (text, tooLong = false) => {
      if (open && !closed) listener.data(text, tooLong);
    },
    readBinary: () => {
      if (!open || closed || isAudioReported) return;
      isAudioReported = true;
      listener.problem("data_connection_audio_ignored");
    },
    notice: (problem) => {
      if (open && !closed) listener.problem(problem);
    },
    lose: (detail, willRetry) => {
      if (!open || closed) return;
      open = false;
      listener.lost(detail, willRetry);
    },
    fail: (detail) => {
      if (!closed) listener.failed(detail);
    },
  };
}
