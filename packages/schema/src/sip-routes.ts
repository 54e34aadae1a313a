/** The operations on the SIP configuration. */

import { z } from "zod";
import { Uuid } from "./fields.ts";
import { pageOf } from "./page.ts";
import { PageQuery } from "./queries.ts";
import { json, noContent, plain, type Route } from "./route.ts";
import {
  SipConfig,
  SipConfigPatch,
  SipRegistration,
  SipRegistrationPatch,
  SipRegistrationWrite,
} from "./sip-config.ts";

const RegistrationParams = z.strictObject({ registration_id: Uuid });

export const SipRegistrationPage = pageOf(SipRegistration);

const onConfig = { ...plain, path: "/api/sip", tag: "sip" } as const;
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
    summary: "Read which calls by SIP are taken",
    responses: { 200: json(SipConfig, "The configuration.") },
  },
  updateSipConfig: {
    ...onConfig,
    method: "PATCH",
    summary: "Change which calls by SIP are taken",
    request: SipConfigPatch,
    partial: true,
    responses: { 200: json(SipConfig, "The changed configuration.") },
  },
  listSipRegistrations: {
    ...onList,
    method: "GET",
    summary: "List the registrations at SIP registrars",
    query: PageQuery,
    responses: { 200: json(SipRegistrationPage, "A page of registrations, newest first.") },
  },
  createSipRegistration: {
    ...onList,
    method: "POST",
    summary: "Make a registration at a SIP registrar",
    request: SipRegistrationWrite,
    responses: { 201: json(SipRegistration, "The new registration.") },
  },
  getSipRegistration: {
    ...onOne,
    method: "GET",
    summary: "Read a registration",
    responses: { 200: json(SipRegistration, "The registration.") },
  },
  updateSipRegistration: {
    ...onOne,
    method: "PATCH",
    summary: "Change a registration",
    request: SipRegistrationPatch,
    partial: true,
    responses: { 200: json(SipRegistration, "The changed registration.") },
  },
  deleteSipRegistration: {
    ...onOne,
    method: "DELETE",
    summary: "Delete a registration",
    responses: { 204: noContent },
  },
} as const satisfies Record<string, Route>;
