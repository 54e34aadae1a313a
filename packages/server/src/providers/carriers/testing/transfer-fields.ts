/** The fields of carriers' requests about transfers, as their documentation lists them. */

import type { TransferNews } from "../../../ports/testing/transfer-news.ts";

type Fields = Readonly<Record<string, string>>;

/** How the carriers name the end of an attempt. */
const ENDS: Partial<Record<TransferNews, string>> = {
  completed: "completed",
  busy: "busy",
  no_answer: "no-answer",
  failed: "failed",
  caller_gone: "no-answer",
};

/** The status of the call whose participation in a conference is over. */
const CONFERENCE_STATUS: Partial<Record<TransferNews, string>> = {
  left_conference: "in-progress",
  hung_up_in_conference: "completed",
};

/** Telnyx has the same ones. */
export function twilioTransferFields(news: TransferNews, CallSid: string): Fields {
  const CallStatus = news === "caller_gone" ? "completed" : "in-progress";
  const own = { CallSid, CallStatus, Direction: "inbound" };
  const conference = CONFERENCE_STATUS[news];
  if (conference !== undefined) {
    // The action of a Dial without a number.
    return { CallSid, CallStatus: conference, Direction: "inbound", DialCallStatus: "answered" };
  }
  const end = ENDS[news];
  if (end !== undefined) {
    const duration = news === "completed" ? { DialCallDuration: "42" } : {};
    return { ...own, DialCallStatus: end, DialCallSid: `${CallSid}-other`, ...duration };
  }
  if (news === "instructions") return own;
  const other = {
    CallSid: `${CallSid}-other`,
    CallStatus,
    ParentCallSid: CallSid,
    Direction: "outbound-dial",
  };
  return news === "key_1" || news === "key_2" ? { ...other, Digits: news.slice(-1) } : other;
}

const PLIVO_ACTIONS: Partial<Record<TransferNews, Fields>> = {
  answered: { Event: "DialAnswer", DialAction: "answer", DialBLegStatus: "answer" },
  accepted: { Event: "DialConnected", DialAction: "connected" },
  key_1: { Event: "DialConnected", DialAction: "connected" },
  key_2: { Event: "DialHangup", DialAction: "hangup", DialBLegStatus: "hangup" },
};

export function plivoTransferFields(news: TransferNews, CallUUID: string): Fields {
  const CallStatus = news === "caller_gone" ? "completed" : "in-progress";
  const own = { CallUUID, CallStatus, Direction: "inbound", Event: "Redirect" };
  const conference = CONFERENCE_STATUS[news];
  if (conference !== undefined) {
    const left = { ConferenceAction: "exit", ConferenceName: "room", ConferenceMemberID: "17" };
    return { CallUUID, CallStatus: conference, Direction: "inbound", Event: "ConferenceExit", ...left };
  }
  const calls = { DialALegUUID: CallUUID, DialBLegUUID: `${CallUUID}-other` };
  const end = ENDS[news];
  if (end !== undefined) {
    const duration = news === "completed" ? { DialBLegDuration: "42" } : {};
    return { ...own, ...calls, DialStatus: end, DialRingStatus: "true", ...duration };
  }
  const action = PLIVO_ACTIONS[news];
  return action === undefined ? own : { ...own, ...calls, ...action };
}
