/** What an account may dial, and its phone numbers. */

import { ApiError, formatDurationMs, validationError, type diallingRoutes } from "@parley/schema";
import type { Resource } from "../../lifecycle/resource.ts";
import { UnknownAgentError } from "../../store/database/store-errors.ts";
import {
  changeDiallingRules,
  readDialUse,
  readDiallingRules,
  type DiallingRules,
} from "../../store/telephony/dialling-rules.ts";
import { readDialState } from "../../store/telephony/dial-progress.ts";
import {
  assignNumber,
  listNumbers,
  removeNumber,
  type PhoneNumberRow,
} from "../../store/telephony/phone-numbers.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { runsElsewhere } from "../joins/join-lookup.ts";
import { dialResource } from "../resources/carrier-resources.ts";
import { callOrNotFound, notFound } from "../routes/shared.ts";

const getDiallingRulesRoute: Handler<"getDiallingRules"> = async ({ accountId }, { http }) => ({
  status: 200,
  json: await readDiallingRules(http.store.db, accountId),
});

const updateDiallingRulesRoute: Handler<"updateDiallingRules"> = async ({ accountId, body, change }) => {
  const { allowedPrefixes, maxCallsPerDay, maxMinutesPerDay } = body;
  const changed: Partial<DiallingRules> = {
    ...(allowedPrefixes === undefined ? {} : { allowedPrefixes: allowedPrefixes ?? [] }),
    ...(maxCallsPerDay === undefined ? {} : { maxCallsPerDay }),
    ...(maxMinutesPerDay === undefined ? {} : { maxMinutesPerDay }),
  };
  const rules = await change((tx) => changeDiallingRules(tx, accountId, changed));
  return { status: 200, json: rules };
};

const getDiallingUseRoute: Handler<"getDiallingUse"> = async ({ accountId }, { http }) => {
  const { calls, talkedMs } = await readDialUse(http.store.db, accountId);
  return { status: 200, json: { calls, talked: formatDurationMs(talkedMs) } };
};

const getTelephonyUrlsRoute: Handler<"getTelephonyUrls"> = ({ accountId }, deps) => {
  const publicUrl = deps.publicUrl();
  const json = {
    publicUrl,
    accountUrl: `${publicUrl}/api/accounts/${accountId}/telephony_xml`,
    agentUrl: `${publicUrl}/api/agents/{agent_id}/telephony_xml`,
  };
  return Promise.resolve({ status: 200, json });
};

const getCallDialRoute: Handler<"getCallDial"> = async ({ accountId, params }, { http }) => {
  const dial = await readDialState(http.store.db, accountId, params.call_id);
  if (dial === null) throw notFound("dialled call");
  return { status: 200, json: dialResource(params.call_id, dial) };
};

const cancelCallDialRoute: Handler<"cancelCallDial"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if ((await readDialState(deps.http.store.db, accountId, call.callId)) === null)
    throw notFound("dialled call");
  const ended = await deps.http.endUnjoined(call.callId);
  if (ended === "ended") return { status: 204 };
  if (ended === "elsewhere") throw runsElsewhere();
  if (call.endedAt !== null) throw new ApiError("wrong_state", "The call has ended.");
  if (call.joinedAt !== null) {
    throw new ApiError("wrong_state", "The call is connected; hang_up by send_data_message ends it.");
  }
  throw new ApiError("wrong_state", "The call is about to end.");
};

const listPhoneNumbersRoute: Handler<"listPhoneNumbers"> = async ({ accountId, list }, { http }) => {
  const page = await pageAnswer(
    list,
    (wanted) => listNumbers(http.store.db, accountId, wanted),
    phoneNumberResource,
  );
  return { status: 200, json: page };
};

const assignPhoneNumberRoute: Handler<"assignPhoneNumber"> = async ({ accountId, body, change }, deps) => {
  const { number, agentId } = body;
  try {
    const row = await change((tx) => assignNumber(tx, accountId, { number, agentId }), {
      idOf: (assigned) => assigned.number,
    });
    const headers = { location: `${deps.publicUrl()}/api/phone_numbers/${row.number}` };
    return { status: 201, json: phoneNumberResource(row), headers };
  } catch (error) {
    if (!(error instanceof UnknownAgentError)) throw error;
    throw validationError([{ field: "agentId", message: "is not an agent of this account" }]);
  }
};

const removePhoneNumberRoute: Handler<"removePhoneNumber"> = async ({ accountId, params, change }) => {
  if (!(await change((tx) => removeNumber(tx, accountId, params.number)))) throw notFound("number");
  return { status: 204 };
};

function phoneNumberResource({ number, agentId, createdAt }: PhoneNumberRow): Resource {
  return { number, agentId, created: createdAt };
}

export const diallingHandlers: HandlersOf<typeof diallingRoutes> = {
  getDiallingRules: getDiallingRulesRoute,
  updateDiallingRules: updateDiallingRulesRoute,
  getDiallingUse: getDiallingUseRoute,
  getTelephonyUrls: getTelephonyUrlsRoute,
  getCallDial: getCallDialRoute,
  cancelCallDial: cancelCallDialRoute,
  listPhoneNumbers: listPhoneNumbersRoute,
  assignPhoneNumber: assignPhoneNumberRoute,
  removePhoneNumber: removePhoneNumberRoute,
};
