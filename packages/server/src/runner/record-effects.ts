/** The effects that leave something on record, each with its time. */

import type { CallEffect } from "../call/effects.ts";
import type { RecordQueue } from "./record-queue.ts";

export type RecordEffect = Extract<
  CallEffect,
  { readonly type: "recordJoined" | "beginStage" | "recordToolError" | "recordMessage" | "recordCallEvent" }
>;

export interface RecordTimes {
  readonly now: Date;
  readonly joinedAt: Date;
  readonly clientVersion: string | null;
}

export function recordEffect(effect: RecordEffect, records: RecordQueue, times: RecordTimes): void {
  switch (effect.type) {
    case "recordJoined":
      records.joined({ joinedAt: times.joinedAt, clientVersion: times.clientVersion });
      break;
    case "beginStage":
      records.stage({
        stage: effect.stage,
        inheritsMessages: effect.inheritsMessages,
        beganAt: times.now,
      });
      break;
    case "recordToolError":
      records.toolFailed({ stageId: effect.stageId });
      break;
    case "recordMessage":
      records.message(effect.message);
      break;
    case "recordCallEvent":
      records.callEvent(effect.event);
      break;
  }
}
