/** Routes of the SIP configuration. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import {
  SipConfig,
  SipConfigPatch,
  SipRegistration,
  SipRegistrationPatch,
  SipRegistrationWrite,
} from "./sip-config.ts";
import { SipCheck, SipCheckRequest } from "./sip-messages.ts";
import { SipRules, SipRulesPatch } from "./sip-rules.ts";

const RegistrationParams = z.strictObject({ registration_id: Uuid });

export const SipRegistrationPage = pageOf(SipRegistration);

const onConfig = { ...plain, path: "/api/sip", tag: "sip" } as const;
const onRules = { ...plain, path: "/api/sip/rules", tag: "sip" } as const;
const onList = { ...plain, path: "/api/sip/registrations", tag: "sip" } as const;
const onOne = {
  ...plain,
  path: "/api/sip/registrations/{registration_id}",
  tag: "sip",
  params: RegistrationParams,
  errors: ["not_found"],
} as const;

export const sipRoutes = {
  getSipConfig: {
    ...onConfig,
    method: "GET",
    scope: "read",
    summary: "Get the SIP configuration",
    responses: { 200: json(SipConfig, "The configuration.") },
  },
  updateSipConfig: {
    ...onConfig,
    method: "PATCH",
    scope: "admin",
    summary: "Change the SIP configuration",
    request: SipConfigPatch,
    partial: true,
    responses: { 200: json(SipConfig, "The changed configuration.") },
  },
  getSipRules: {
    ...onRules,
    method: "GET",
    scope: "read",
    summary: "Get the rules for calls over SIP",
    responses: { 200: json(SipRules, "The rules.") },
  },
  updateSipRules: {
    ...onRules,
    method: "PATCH",
    scope: "admin",
    summary: "Change the rules for calls over SIP",
    request: SipRulesPatch,
    partial: true,
    responses: { 200: json(SipRules, "The changed rules.") },
  },
  checkSip: {
    ...plain,
    path: "/api/sip/check",
    tag: "sip",
    method: "POST",
    scope: "calls",
    summary: "Check the SIP configuration, and whether a trunk answers",
    request: SipCheckRequest,
    responses: { 200: json(SipCheck, "What is wrong, with the most important first; empty: nothing.") },
    errors: ["rate_limited"],
  },
  listSipRegistrations: {
    ...onList,
    method: "GET",
    scope: "read",
    summary: "List SIP registrations",
    query: PageQuery,
    responses: { 200: json(SipRegistrationPage, "A page of registrations, newest first.") },
  },
  createSipRegistration: {
    ...onList,
    method: "POST",
    scope: "admin",
    summary: "Create a SIP registration",
    request: SipRegistrationWrite,
    responses: { 201: json(SipRegistration, "The new registration.") },
  },
  getSipRegistration: {
    ...onOne,
    method: "GET",
    scope: "read",
    summary: "Get a SIP registration",
    responses: { 200: json(SipRegistration, "The registration.") },
  },
  updateSipRegistration: {
    ...onOne,
    method: "PATCH",
    scope: "admin",
    summary: "Change a SIP registration",
    request: SipRegistrationPatch,
    partial: true,
    responses: { 200: json(SipRegistration, "The changed registration.") },
  },
  deleteSipRegistration: {
    ...onOne,
    method: "DELETE",
    scope: "admin",
    summary: "Delete a SIP registration",
    responses: { 204: noContent },
  },
  checkSipRegistration: {
    ...onOne,
    path: "/api/sip/registrations/{registration_id}/check",
    method: "POST",
    scope: "calls",
    summary: "Ask the registrar with the stored password, without registering",
    responses: { 200: json(SipCheck, "What is wrong, with the most important first; empty: nothing.") },
    errors: ["not_found", "rate_limited"],
  },
} as const satisfies Record<string, Route>;
