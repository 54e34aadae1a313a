/** Routes of what an account may dial, and of its phone numbers. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { DialledAddress } from "../values/phone-number.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { DiallingRules, DiallingRulesPatch, PhoneNumber, PhoneNumberWrite } from "./dialling.ts";
import { CallDial, DiallingUse, TelephonyUrls } from "./dials.ts";

export const PhoneNumberPage = pageOf(PhoneNumber);

const onRules = { ...plain, path: "/api/accounts/me/dialling_rules", tag: "telephony" } as const;

export const diallingRoutes = {
  getDiallingRules: {
    ...onRules,
    method: "GET",
    scope: "read",
    summary: "Get what the account may dial",
    responses: { 200: json(DiallingRules, "The rules for calls that the service dials.") },
  },
  updateDiallingRules: {
    ...onRules,
    method: "PATCH",
    scope: "admin",
    summary: "Change what the account may dial",
    request: DiallingRulesPatch,
    partial: true,
    responses: { 200: json(DiallingRules, "The changed rules.") },
  },
  getDiallingUse: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/dialling_use",
    tag: "telephony",
    summary: "Get the calls and minutes that were dialled within the last 24 hours",
    responses: { 200: json(DiallingUse, "What counts for the limits of the dialling rules.") },
  },
  getTelephonyUrls: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/telephony_urls",
    tag: "telephony",
    summary: "Get the URLs to enter at a carrier for calls that come in",
    responses: { 200: json(TelephonyUrls, "The URLs, as carriers must call them.") },
  },
  getCallDial: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/dial",
    tag: "telephony",
    summary: "Get the progress of a dialled call at its carrier, which is kept for two days",
    params: z.strictObject({ call_id: Uuid }),
    responses: { 200: json(CallDial, "What the carrier has reported.") },
    errors: ["not_found"],
  },
  cancelCallDial: {
    ...plain,
    method: "DELETE",
    scope: "calls",
    path: "/api/calls/{call_id}/dial",
    tag: "telephony",
    summary: "Stop dialling; the call ends as unjoined",
    params: z.strictObject({ call_id: Uuid }),
    responses: { 204: { ...noContent, description: "Accepted. The carrier is asked to stop the ringing." } },
    errors: ["not_found", "wrong_state", "call_elsewhere"],
  },
  listPhoneNumbers: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/phone_numbers",
    tag: "telephony",
    summary: "List the numbers of the account and the agents that answer them",
    query: PageQuery,
    responses: { 200: json(PhoneNumberPage, "A page of numbers, newest first.") },
  },
  assignPhoneNumber: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/phone_numbers",
    tag: "telephony",
    summary: "Let an agent answer calls to a number; a number that has an agent gets the new one",
    request: PhoneNumberWrite,
    responses: { 201: json(PhoneNumber, "The number in the form in which it is compared.") },
  },
  removePhoneNumber: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/phone_numbers/{number}",
    tag: "telephony",
    summary: "Remove a number; no agent answers it any more",
    params: z.strictObject({ number: DialledAddress }),
    responses: { 204: noContent },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
