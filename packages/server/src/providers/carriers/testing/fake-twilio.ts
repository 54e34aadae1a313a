/** Twilio as its documentation says: form posts, basic authentication, JSON answers, errors with codes. */

import type { CarrierSubject } from "../../../ports/testing/carriers-conformance.ts";
import { twilioSignature } from "../signatures.ts";
import { openTwilio } from "../twilio.ts";
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

const TWILIO_ACCOUNT = {
  settings: { accountSid: "AC0123456789abcdef" },
  secrets: { authToken: "twilio-token-0123456789" },
};

const ACCOUNT = `/2010-04-01/Accounts/${TWILIO_ACCOUNT.settings.accountSid}`;
const MAX_TWIML_CHARS = 4_000;

export async function openFakeTwilio(): Promise<CarrierSubject & { readonly baseUrl: string }> {
  const server = await openFakeServer(answer);
  const { authToken } = TWILIO_ACCOUNT.secrets;
  return {
    carrier: openTwilio({ client: loopbackClient, baseUrl: server.baseUrl }),
    baseUrl: server.baseUrl,
    ...observedBy(server),
    problemsIn: (xml, place) => problemsOf(xml, place, TWILIO_RULES),
    transferFields: twilioTransferFields,
    account: TWILIO_ACCOUNT,
    refusal: (message) => JSON.stringify({ code: 21211, message, more_info: "https://x", status: 400 }),
    sign(fields, url) {
      const params = Object.entries(fields);
      return {
        url,
        headers: {
          "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
          "x-twilio-signature": twilioSignature(authToken, url, params),
        },
        body: Buffer.from(new URLSearchParams(params).toString()),
      };
    },
    callback(state, CallSid) {
      const CallStatus = statusWord(state);
      return { CallSid, CallStatus, AccountSid: TWILIO_ACCOUNT.settings.accountSid, To: "+4930123456" };
    },
  };
}

function problem(status: number, code: number, message: string): FakeReply {
  return { status, json: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status } };
}

function answer(request: FakeRequest, state: FakeState): FakeReply {
  const { accountSid } = TWILIO_ACCOUNT.settings;
  const expected = Buffer.from(`${accountSid}:${TWILIO_ACCOUNT.secrets.authToken}`).toString("base64");
  if (request.authorization !== `Basic ${expected}`) return problem(401, 20003, "Authenticate");
  if (request.method === "GET" && request.path === `${ACCOUNT}.json`) {
    return { status: 200, json: { sid: accountSid, status: "active", type: "Full" } };
  }
  if (request.method !== "POST") return problem(405, 20004, "Method not allowed");
  if (request.contentType !== "application/x-www-form-urlencoded") return problem(400, 20001, "Not a form");
  const form = new URLSearchParams(request.body);
  if (request.path === `${ACCOUNT}/Calls.json`) return place(form, state);
  const id = /\/Calls\/([^/]+)\.json$/.exec(request.path)?.[1];
  if (id === undefined || !state.live.has(id)) return problem(404, 20404, "The call was not found");
  if (form.has("Url")) return redirect(id, form, state);
  if (form.get("Status") !== "completed") return problem(400, 21220, "Invalid call state");
  state.live.delete(id);
  state.ended.push(id);
  return { status: 200, json: { sid: id, status: "completed" } };
}

/** Only calls in progress are redirected. */
function redirect(id: string, form: URLSearchParams, state: FakeState): FakeReply {
  const surplus = [...form.keys()].find((name) => name !== "Url" && name !== "Method");
  if (surplus !== undefined) return problem(400, 20001, `${surplus} cannot be given with Url`);
  const url = form.get("Url") ?? "";
  if (!isReachable(url)) return problem(400, 21205, "Url is not a valid URL");
  if (form.get("Method") !== "POST") return problem(400, 21218, "Method");
  if (!state.answered.has(id)) return problem(400, 21220, "Call is not in-progress. Cannot redirect.");
  state.redirected.push({ id, url });
  return { status: 200, json: { sid: id, status: "in-progress" } };
}

function place(form: URLSearchParams, state: FakeState): FakeReply {
  const to = form.get("To") ?? "";
  const from = form.get("From") ?? "";
  if (!/^\+[1-9]\d{6,14}$/.test(to)) return problem(400, 21211, `Invalid 'To' Phone Number: ${to}`);
  if (!/^\+[1-9]\d{6,14}$/.test(from)) return problem(400, 21212, `Invalid 'From' Number: ${from}`);
  for (const name of ["To", "From", "Twiml", "Timeout", "StatusCallback"]) {
    if (form.getAll(name).length > 1) return problem(400, 20001, `${name} is given twice`);
  }
  const twiml = form.get("Twiml") ?? "";
  if (twiml.length > MAX_TWIML_CHARS) return problem(400, 32018, "Twiml is too long");
  const stream =
    /^<\?xml[^>]*\?>\s*<Response><Connect><Stream url="([^"?]+)"\/><\/Connect><Redirect method="POST">([^<]+)<\/Redirect><\/Response>$/.exec(
      twiml,
    );
  if (stream === null) return problem(400, 12100, "Document parse failure");
  const events = form.getAll("StatusCallbackEvent");
  const ringSeconds = Number(form.get("Timeout") ?? 60);
  if (!Number.isInteger(ringSeconds) || ringSeconds < 1 || ringSeconds > 600)
    return problem(400, 21206, "Timeout");
  const known = [
    "To",
    "From",
    "Twiml",
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
    statusUrl: events.includes("completed") ? (form.get("StatusCallback") ?? "") : "",
    streamUrl: stream[1] ?? null,
    returnUrl: stream[2] ?? null,
    instructionsUrl: null,
    // The carrier adds 5 s.
    ringSeconds: ringSeconds + 5,
    others: otherParams(Object.fromEntries(form), known),
  });
  return { status: 201, json: { sid: id, status: "queued", to, from, direction: "outbound-api" } };
}
