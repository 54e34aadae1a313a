/** The process of a model as a thread of a queue: one request at a time. */

import type { QueueThread, StartQueueThread } from "../thread-queue.ts";
import { startLocalChild, type StartLocalChild } from "./local-child.ts";
import type { LoadOrder } from "./local-model.ts";

export interface Asked<Request> {
  readonly id: number;
  readonly request: Request;
}

export function childThread<Request, Answer>(
  program: URL,
  order: LoadOrder,
  startChild: StartLocalChild = startLocalChild,
): StartQueueThread<Request, Answer> {
  return (listener): QueueThread<Request> => {
    const child = startChild<Asked<Request>, Answer>(program, order, {
      heard: (message) => {
        if (message.type !== "partial") listener.heard(message);
      },
      ended: (reason) => listener.ended(reason),
    });
    return { send: (id, request) => child.send({ id, request }), end: () => child.end() };
  };
}
