/** Plivo as its documentation says: JSON, basic authentication, instructions by URL, trailing slashes. */

import type { CarrierSubject } from "../../../ports/testing/carriers-conformance.ts";
import { openPlivo } from "../plivo.ts";
import { plivoSignature } from "../signatures.ts";
import {
  isReachable,
  observedBy,
  openFakeServer,
  otherParams,
  statusWord,
  type FakeReply,
  type FakeRequest,
  type FakeState,
} from "./fake-server.ts";
import { PLIVO_RULES, problemsOf } from "./instruction-rules.ts";
import { loopbackClient } from "./loopback-client.ts";
import { plivoTransferFields } from "./transfer-fields.ts";

const PLIVO_ACCOUNT = {
  settings: { authId: "MAXXXXXXXXXXXXXXXXXX" },
  secrets: { authToken: "plivo-token-0123456789" },
};

const ACCOUNT = `/v1/Account/${PLIVO_ACCOUNT.settings.authId}/`;
const NONCE = "05429567804466091622";

export async function openFakePlivo(): Promise<CarrierSubject & { readonly baseUrl: string }> {
  const server = await openFakeServer(answer);
  const { authToken } = PLIVO_ACCOUNT.secrets;
  return {
    carrier: openPlivo({ client: loopbackClient, baseUrl: server.baseUrl }),
    baseUrl: server.baseUrl,
    ...observedBy(server),
    problemsIn: (xml, place) => problemsOf(xml, place, PLIVO_RULES),
    transferFields: plivoTransferFields,
    account: PLIVO_ACCOUNT,
    refusal: (error) => JSON.stringify({ api_id: "x", error }),
    sign(fields, url) {
      const params = Object.entries(fields);
      const signature = plivoSignature(authToken, url, params, NONCE);
      return {
        url,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          // One for each of the account's tokens.
          "x-plivo-signature-v3": `bm90IHRoaXMgb25l,${signature}`,
          "x-plivo-signature-v3-nonce": NONCE,
        },
        body: Buffer.from(new URLSearchParams(params).toString()),
      };
    },
    callback(state, CallUUID) {
      const CallStatus = statusWord(state);
      return { CallUUID, CallStatus, Event: state === "ringing" ? "Ring" : "Hangup", To: "4930123456" };
    },
  };
}

function problem(status: number, error: string): FakeReply {
  return { status, json: { api_id: "5e4b", error } };
}

function answer(request: FakeRequest, state: FakeState): FakeReply {
  const { authId } = PLIVO_ACCOUNT.settings;
  const expected = Buffer.from(`${authId}:${PLIVO_ACCOUNT.secrets.authToken}`).toString("base64");
  if (request.authorization !== `Basic ${expected}`) return problem(401, "invalid credentials");
  if (request.method === "GET" && request.path === ACCOUNT) {
    return { status: 200, json: { api_id: "x", auth_id: authId, cash_credits: "12.50" } };
  }
  if (request.method === "DELETE") {
    const [, resource, id = ""] = /\/(Call|Request)\/([^/]+)\/$/.exec(request.path) ?? [];
    // An answered call has another resource than a request that is queued or rings.
    const isRight = resource === (state.answered.has(id) ? "Call" : "Request");
    if (!isRight || !state.live.delete(id)) return problem(404, "not found");
    state.ended.push(id);
    return { status: 204 };
  }
  const redirected = /\/Call\/([^/]+)\/$/.exec(request.path)?.[1];
  if (request.method === "POST" && redirected !== undefined) return redirect(redirected, request, state);
  if (request.method !== "POST" || request.path !== `${ACCOUNT}Call/`) return problem(404, "not found");
  if (request.contentType !== "application/json") return problem(400, "JSON is needed");
  return place(JSON.parse(request.body) as Readonly<Record<string, unknown>>, state);
}

function redirect(id: string, { contentType, body }: FakeRequest, state: FakeState): FakeReply {
  if (contentType !== "application/json") return problem(400, "JSON is needed");
  const given = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const { legs, aleg_url: url, aleg_method: method, ...surplus } = given;
  if (Object.keys(surplus).length > 0) return problem(400, "unknown parameters");
  if (legs !== "aleg" || typeof url !== "string" || !isReachable(url) || method !== "POST")
    return problem(400, "aleg_url and aleg_method are needed for legs aleg");
  if (!state.live.has(id) || !state.answered.has(id)) return problem(404, "call not found");
  state.redirected.push({ id, url });
  return { status: 202, json: { api_id: "x", message: "call transferred", call_uuids: [id] } };
}

function place(body: Readonly<Record<string, unknown>>, state: FakeState): FakeReply {
  const {
    to,
    from,
    answer_url: answerUrl,
    answer_method: method,
    hangup_url: hangUpUrl,
    ring_timeout: ring,
  } = body;
  if (typeof to !== "string" || typeof from !== "string") return problem(400, "to and from are needed");
  if (typeof answerUrl !== "string" || method !== "POST")
    return problem(400, "answer_url parameter not present");
  if (typeof ring !== "number") return problem(400, "ring_timeout must be a number");
  const known = ["to", "from", "answer_url", "answer_method", "hangup_url", "hangup_method", "ring_timeout"];
  const id = state.newId();
  state.live.add(id);
  state.placed.push({
    id,
    to,
    from,
    statusUrl: typeof hangUpUrl === "string" ? hangUpUrl : "",
    streamUrl: null,
    returnUrl: null,
    instructionsUrl: answerUrl,
    ringSeconds: ring,
    others: otherParams(body, known),
  });
  return { status: 201, json: { api_id: "x", message: "call fired", request_uuid: id } };
}
