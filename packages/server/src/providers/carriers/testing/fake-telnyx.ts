/** Telnyx as its documentation says: TeXML calls of an application by JSON, bearer keys, errors in a list. */

import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { NOW_MS, type CarrierSubject } from "../../../ports/testing/carriers-conformance.ts";
import { openTelnyx } from "../telnyx.ts";
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
import { TWILIO_RULES, problemsOf } from "./instruction-rules.ts";
import { loopbackClient } from "./loopback-client.ts";
import { twilioTransferFields } from "./transfer-fields.ts";

const keys = generateKeyPairSync("ed25519");
/** The last 32 bytes of the DER form are the key itself. */
const publicKey = keys.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");

const TELNYX_ACCOUNT = {
  settings: { accountSid: "f5586561-8ff0", applicationSid: "1773070540731319841" },
  secrets: { apiKey: "KEY0123456789-telnyx", publicKey },
};

/** The headers of a webhook at this moment. */
function telnyxHeaders(body: Uint8Array, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signed = signBytes(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), keys.privateKey);
  return {
    "content-type": "application/x-www-form-urlencoded",
    "telnyx-timestamp": timestamp,
    "telnyx-signature-ed25519": signed.toString("base64"),
  };
}

export interface FakeTelnyx extends CarrierSubject {
  readonly baseUrl: string;
  /** A call with this id runs that somebody else has placed or answered. */
  readonly carry: (carrierCallId: string) => void;
}

export async function openFakeTelnyx(): Promise<FakeTelnyx> {
  const server = await openFakeServer(answer);
  return {
    carrier: openTelnyx({ client: loopbackClient, baseUrl: server.baseUrl }),
    baseUrl: server.baseUrl,
    ...observedBy(server),
    problemsIn: (xml, place) => problemsOf(xml, place, TWILIO_RULES),
    transferFields: twilioTransferFields,
    carry: (carrierCallId) => void server.state.live.add(carrierCallId),
    account: TELNYX_ACCOUNT,
    refusal: (detail) => JSON.stringify({ errors: [{ code: "10015", title: "Bad request", detail }] }),
    sign(fields, url, nowMs = NOW_MS) {
      const body = Buffer.from(new URLSearchParams(Object.entries(fields)).toString());
      return { url, headers: telnyxHeaders(body, nowMs), body };
    },
    callback(state, CallSid) {
      const CallStatus = statusWord(state);
      return { CallSid, CallStatus, CallbackSource: "call-progress-events", To: "+4930123456" };
    },
  };
}

function problem(status: number, code: string, title: string, detail: string): FakeReply {
  return { status, json: { errors: [{ code, title, detail }] } };
}

function answer(request: FakeRequest, state: FakeState): FakeReply {
  if (request.authorization !== `Bearer ${TELNYX_ACCOUNT.secrets.apiKey}`) {
    return problem(401, "10009", "Authentication failed", "The API key is not valid.");
  }
  const { applicationSid } = TELNYX_ACCOUNT.settings;
  if (request.method === "GET") {
    if (request.path !== `/texml_applications/${applicationSid}`)
      return problem(404, "10005", "Not found", "");
    const outbound = { outbound_voice_profile_id: "1293384261075731499" };
    const voice = { voice_url: "https://voice.example/api/agents/x/telephony_xml", voice_method: "post" };
    return { status: 200, json: { data: { id: applicationSid, active: true, outbound, ...voice } } };
  }
  const redirected = /^\/texml\/Accounts\/([^/]+)\/Calls\/([^/]+)$/.exec(request.path);
  if (redirected !== null) return redirect(redirected, request, state);
  if (request.method !== "POST" || request.contentType !== "application/json") {
    return problem(415, "10011", "Unsupported", "JSON is needed.");
  }
  const body = JSON.parse(request.body) as Readonly<Record<string, unknown>>;
  if (request.path === `/texml/calls/${applicationSid}`) return place(body, state);
  const id = /^\/calls\/([^/]+)\/actions\/hangup$/.exec(request.path)?.[1];
  if (id === undefined) return problem(404, "10005", "Not found", "");
  if (!state.live.delete(id)) return problem(422, "90018", "Call has already ended", "");
  state.ended.push(id);
  return { status: 200, json: { data: { result: "ok" } } };
}

/** The one command whose documentation has a form and no JSON. */
function redirect(
  [, account = "", id = ""]: RegExpExecArray,
  { method, contentType, body }: FakeRequest,
  state: FakeState,
): FakeReply {
  if (account !== TELNYX_ACCOUNT.settings.accountSid) return problem(404, "10005", "Not found", "");
  if (method !== "POST" || contentType !== "application/x-www-form-urlencoded")
    return problem(415, "10011", "Unsupported", "A form is needed.");
  const form = new URLSearchParams(body);
  const surplus = [...form.keys()].find((name) => name !== "Url" && name !== "Method");
  const url = form.get("Url") ?? "";
  if (surplus !== undefined || !isReachable(url) || form.get("Method") !== "POST")
    return problem(422, "10015", "Invalid parameters", "Url and Method are needed.");
  if (!state.live.has(decodeURIComponent(id))) return problem(422, "90018", "Call has already ended", "");
  if (!state.answered.has(decodeURIComponent(id)))
    return problem(422, "90034", "Call not answered yet", "The call must be answered first.");
  state.redirected.push({ id: decodeURIComponent(id), url });
  return { status: 200, json: { sid: id, status: "in-progress" } };
}

function place(body: Readonly<Record<string, unknown>>, state: FakeState): FakeReply {
  const { To: to, From: from, Texml: texml, Timeout: timeout, StatusCallback: statusUrl } = body;
  if (typeof to !== "string" || !/^\+[1-9]\d{6,14}$/.test(to)) {
    return problem(422, "10016", "Invalid destination", "To is not a phone number.");
  }
  if (typeof from !== "string" || typeof texml !== "string" || typeof timeout !== "number") {
    return problem(422, "10015", "Invalid parameters", "From, Texml and Timeout are needed.");
  }
  const stream =
    /<Connect><Stream url="([^"]+)"([^>]*)\/><\/Connect><Redirect method="POST">([^<]+)<\/Redirect>/.exec(
      texml,
    );
  // Otherwise the carrier drops the audio that it is sent.
  if (stream === null || !stream[2]?.includes('bidirectionalMode="rtp"')) {
    return problem(422, "10015", "Invalid parameters", "Texml has no bidirectional stream.");
  }
  const known = [
    "To",
    "From",
    "Texml",
    "Timeout",
    "StatusCallback",
    "StatusCallbackMethod",
    "StatusCallbackEvent",
  ];
  const id = state.newId();
  state.live.add(id);
  state.placed.push({
    id,
    to,
    from,
    statusUrl: typeof statusUrl === "string" ? statusUrl : "",
    streamUrl: stream[1] ?? null,
    returnUrl: stream[3] ?? null,
    instructionsUrl: null,
    ringSeconds: timeout,
    others: otherParams(body, known),
  });
  return { status: 200, json: { call_sid: id, from, to, status: "queued" } };
}
