/** Telnyx (telephony2): calls by its TeXML interface, which is controlled by an application of the account. */

import type {
  Carrier,
  CarrierAccount,
  CarrierFinding,
  CheckedPlace,
  DialIntent,
} from "../../ports/carriers.ts";
import { callIdIn, statusOf } from "./call-status.ts";
import {
  askCarrier,
  checkBy,
  dialBy,
  hangUpBy,
  idAt,
  memberAt,
  mergedParams,
  refusedCheck,
  secondsOf,
  textAt,
  type AnswerReading,
  type CarrierAnswer,
  type CarrierHttp,
  type CarrierPost,
} from "./carrier-http.ts";
import { headerOf, readFields } from "./form.ts";
import { ed25519Key, isSignedByTelnyx } from "./signatures.ts";
import { HANG_UP_XML, sayAndHangUp, telnyxStream } from "./stream-xml.ts";
import { openTwilioTransfers } from "./transfers/open-transfers.ts";

export const TELNYX_URL = "https://api.telnyx.com/v2";
const CARRIER = "Telnyx";

/** Bounds of the carrier for the ringing and for the whole call. */
const RING_SECONDS = { least: 5, most: 600 } as const;
const MAX_CALL_SECONDS = 14_400;
/** The carrier's code for a command to a call that has ended. */
const ENDED_CALL = "90018";

export function openTelnyx(http: CarrierHttp): Carrier {
  return {
    dial(account, intent, signal) {
      const { applicationSid = "" } = account.settings;
      const path = `/texml/calls/${encodeURIComponent(applicationSid)}`;
      const request = post(account, path, JSON.stringify(paramsOf(intent)));
      return dialBy(() => askCarrier(http, request, signal), readingOf(account));
    },
    hangUp(account, carrierCallId, signal) {
      // The id of a TeXML call is that of the call control interface. Two requests with one command id act once.
      const path = `/calls/${encodeURIComponent(carrierCallId)}/actions/hangup`;
      const request = post(account, path, JSON.stringify({ command_id: `hang-up-${carrierCallId}` }));
      return hangUpBy(() => askCarrier(http, request, signal), readingOf(account), isOver);
    },
    check: (account, place, signal) => checkApplication(http, account, place, signal),
    claims: (headers) => headerOf(headers, "telnyx-signature-ed25519") !== "",
    isSigned({ secrets }, { headers, body }, nowMs) {
      const signature = headerOf(headers, "telnyx-signature-ed25519");
      const timestamp = headerOf(headers, "telnyx-timestamp");
      return isSignedByTelnyx(secrets["publicKey"] ?? "", { signature, timestamp }, body, nowMs);
    },
    readFields: ({ body }) => readFields(body),
    readCallId: (fields) => callIdIn(fields.get("CallSid")),
    readStatus: (fields) =>
      statusOf({
        id: fields.get("CallSid"),
        status: fields.get("CallStatus"),
        answeredBy: fields.get("AnsweredBy"),
        seconds: fields.get("CallDuration"),
        detail: [fields.get("ErrorCode"), fields.get("ErrorMessage"), fields.get("HangupCause")],
      }),
    connectTo: telnyxStream,
    hangUpXml: HANG_UP_XML,
    sayAndHangUp: (sentence) => sayAndHangUp("Say", sentence),
    transfers: openTwilioTransfers({ http, readingOf, redirection }),
  };
}

function paramsOf(intent: DialIntent): Record<string, unknown> {
  const { statusUrl, ringTimeoutMs, maxDurationMs, additionalParams } = intent;
  const detects = Object.keys(additionalParams).some((name) => name.toLowerCase() === "machinedetection");
  const defaults = {
    StatusCallback: statusUrl,
    StatusCallbackMethod: "POST",
    StatusCallbackEvent: "initiated ringing answered completed",
    Timeout: secondsOf(ringTimeoutMs, RING_SECONDS.least, RING_SECONDS.most),
    TimeLimit: secondsOf(maxDurationMs, 30, MAX_CALL_SECONDS),
    ...(detects ? { AsyncAmd: true, AsyncAmdStatusCallback: statusUrl } : {}),
  };
  const controlled = { To: intent.to, From: intent.from, Texml: telnyxStream(intent.stream) };
  return mergedParams(defaults, additionalParams, controlled);
}

function post({ secrets }: CarrierAccount, path: string, body: string | null): CarrierPost {
  return {
    method: body === null ? "GET" : "POST",
    path,
    headers: {
      authorization: `Bearer ${secrets["apiKey"] ?? ""}`,
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    body,
  };
}

/** The one request of this interface that takes a form alone. */
function redirection(account: CarrierAccount, carrierCallId: string, url: string): CarrierPost {
  const { accountSid = "" } = account.settings;
  const path = `/texml/Accounts/${encodeURIComponent(accountSid)}/Calls/${encodeURIComponent(carrierCallId)}`;
  const { headers, ...request } = post(
    account,
    path,
    new URLSearchParams({ Url: url, Method: "POST" }).toString(),
  );
  return { ...request, headers: { ...headers, "content-type": "application/x-www-form-urlencoded" } };
}

function readingOf({ secrets }: CarrierAccount): AnswerReading {
  return {
    carrier: CARRIER,
    // The deprecated form of the interface wraps its answer.
    callIdOf: (json) => idAt(json, "call_sid") ?? idAt(json, "data", "call_sid") ?? idAt(json, "sid"),
    reasonOf(json) {
      const title = textAt(json, "errors", 0, "title");
      const detail = textAt(json, "errors", 0, "detail");
      const code = textAt(json, "errors", 0, "code");
      const words = detail ?? title ?? textAt(json, "message");
      return words === null || code === null ? words : `${words} (error ${code})`;
    },
    secrets: Object.values(secrets),
  };
}

function isOver({ status, json }: CarrierAnswer): boolean {
  return status === 422 && textAt(json, "errors", 0, "code") === ENDED_CALL;
}

async function checkApplication(
  http: CarrierHttp,
  account: CarrierAccount,
  place: CheckedPlace,
  signal: AbortSignal,
): Promise<readonly CarrierFinding[]> {
  const { secrets, settings } = account;
  const findings: CarrierFinding[] = [];
  if (ed25519Key(secrets["publicKey"] ?? "") === null) {
    const message =
      "The public key is not 32 bytes in base64. Copy it from Keys & Credentials, Public Key, in the Telnyx portal; without it no webhook of Telnyx is accepted.";
    findings.push({ severity: "error", field: "publicKey", message });
  }
  const reading = readingOf(account);
  const path = `/texml_applications/${encodeURIComponent(settings["applicationSid"] ?? "")}`;
  const found = await checkBy(
    () => askCarrier(http, post(account, path, null), signal),
    reading,
    (answer) => findingsOf(answer, reading, place),
  );
  return [...findings, ...found];
}

function findingsOf(
  answer: CarrierAnswer,
  reading: AnswerReading,
  { publicUrl }: CheckedPlace,
): CarrierFinding[] {
  const { status, json } = answer;
  if (status === 401) {
    const message = "Telnyx does not accept this API key. Make one under Keys & Credentials, API Keys.";
    return [{ severity: "error", field: "apiKey", message }];
  }
  if (status === 404) {
    const message =
      "Telnyx has no TeXML application with this id for the API key. Copy the id from Voice, Programmable Voice, TeXML Applications.";
    return [{ severity: "error", field: "applicationSid", message }];
  }
  if (status !== 200) return [refusedCheck(answer, reading)];
  const findings: CarrierFinding[] = [];
  const add = (severity: CarrierFinding["severity"], message: string): void => {
    findings.push({ severity, field: "applicationSid", message });
  };
  if (memberAt(json, "data", "active") === false)
    add("error", "The TeXML application is switched off in the Telnyx portal.");
  if (textAt(json, "data", "outbound", "outbound_voice_profile_id") === null) {
    add(
      "warning",
      "The TeXML application has no outbound voice profile, so the service cannot dial with it.",
    );
  }
  const voiceUrl = textAt(json, "data", "voice_url") ?? "";
  if (!voiceUrl.startsWith(`${publicUrl}/`)) {
    add(
      "warning",
      `The webhook URL of the TeXML application is not one of ${publicUrl}, so calls to your numbers do not arrive here. Calls that the service dials are not affected.`,
    );
  } else if (textAt(json, "data", "voice_method")?.toLowerCase() === "get") {
    add("warning", "The TeXML application sends its webhook by GET. Set the method to POST.");
  }
  return findings;
}
