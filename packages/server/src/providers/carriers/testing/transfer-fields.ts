/** The fields of carriers' requests about transfers, as their documentation lists them. */

import type { TransferNews } from "../../../ports/testing/transfer-news.ts";

type Fields = Readonly<Record<string, string>>;

const ENDS = {
  completed: "completed",
  busy: "busy",
  no_answer: "no-answer",
  failed: "failed",
  caller_gone: "no-answer",
} as const;

/** Telnyx has the same ones. */
export function twilioTransferFields(news: TransferNews, CallSid: string): Fields {
  const own = { CallSid, CallStatus: "in-progress", Direction: "inbound" };
  const other = { CallSid: `${CallSid}-other`, ParentCallSid: CallSid, Direction: "outbound-dial" };
  switch (news) {
    case "instructions":
      return own;
    case "answered":
    case "accepted":
      return { ...other, CallStatus: "in-progress" };
    case "key_1":
    case "key_2":
      return { ...other, CallStatus: "in-progress", Digits: news.slice(-1) };
    case "question":
      return { ...other, CallStatus: "in-progress" };
    case "completed":
    case "busy":
    case "no_answer":
    case "failed":
    case "caller_gone":
      return {
        ...own,
        ...(news === "caller_gone" ? { CallStatus: "completed" } : {}),
        DialCallStatus: ENDS[news],
        DialCallSid: `${CallSid}-other`,
        ...(news === "completed" ? { DialCallDuration: "42" } : {}),
      };
  }
}

export function plivoTransferFields(news: TransferNews, CallUUID: string): Fields {
  const own = { CallUUID, CallStatus: "in-progress", Direction: "inbound", Event: "Redirect" };
  const legs = { DialALegUUID: CallUUID, DialBLegUUID: `${CallUUID}-other` };
  switch (news) {
    case "instructions":
    case "question":
      return own;
    case "answered":
      return { ...own, ...legs, Event: "DialAnswer", DialAction: "answer", DialBLegStatus: "answer" };
    case "accepted":
    case "key_1":
      return { ...own, ...legs, Event: "DialConnected", DialAction: "connected" };
    case "key_2":
      return { ...own, ...legs, Event: "DialHangup", DialAction: "hangup", DialBLegStatus: "hangup" };
    case "completed":
    case "busy":
    case "no_answer":
    case "failed":
    case "caller_gone":
      return {
        ...own,
        ...legs,
        ...(news === "caller_gone" ? { CallStatus: "completed" } : {}),
        DialStatus: ENDS[news],
        DialRingStatus: "true",
        ...(news === "completed" ? { DialBLegDuration: "42" } : {}),
      };
  }
}
