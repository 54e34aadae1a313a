/** The signatures of the carriers' own libraries, which are used nowhere else. */

import * as fc from "fast-check";
// Only the files with the signatures: the whole libraries take a second to load.
import { validateV3Signature } from "plivo/dist/utils/v3Security.js";
import { getExpectedTwilioSignature, validateRequest } from "twilio/lib/webhooks/webhooks.js";
import { expect, test } from "vitest";
import {
  isSignedByPlivo,
  isSignedByTwilio,
  plivoSignature,
  twilioSignature,
  type FormParams,
} from "./signatures.ts";

const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/);
const value = fc.string({ unit: "grapheme", maxLength: 12 });
const form = fc.uniqueArray(fc.tuple(word, value), { maxLength: 8, selector: ([name]) => name });
const query = fc.uniqueArray(fc.tuple(word, fc.stringMatching(/^[a-z0-9 ]{0,6}$/)), {
  maxLength: 3,
  selector: ([name]) => name,
});
const body = new Uint8Array();

function urlOf(pairs: FormParams): string {
  const search = new URLSearchParams(Object.fromEntries(pairs)).toString();
  return `https://voice.example/calls/x/carrier_status${search === "" ? "" : `?${search}`}`;
}

test("Twilio's library accepts what we sign, and we accept what it signs", () => {
  fc.assert(
    fc.property(form, query, (params, pairs) => {
      const url = urlOf(pairs);
      const signature = twilioSignature("token", url, params);
      expect(validateRequest("token", signature, url, Object.fromEntries(params))).toBe(true);
      const theirs = getExpectedTwilioSignature("token", url, Object.fromEntries(params));
      expect(isSignedByTwilio("token", theirs, { url, params, body })).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("Plivo's library accepts what we sign", () => {
  fc.assert(
    fc.property(form, query, (params, pairs) => {
      const url = urlOf(pairs);
      const signature = plivoSignature("token", url, params, "nonce");
      expect(validateV3Signature("POST", url, "nonce", "token", signature, Object.fromEntries(params))).toBe(
        true,
      );
      expect(isSignedByPlivo("token", { signatures: signature, nonce: "nonce" }, url, params)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
