/** Routes of the configuration of telephony carriers. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { TelephonyCheck } from "./dialling.ts";
import {
  AccountTelephonyConfig,
  AccountTelephonyConfigPatch,
  CarrierName,
  Telephony1ConfigPatch,
  Telephony1ConfigWrite,
  Telephony2ConfigPatch,
  Telephony2ConfigWrite,
  Telephony3ConfigPatch,
  Telephony3ConfigWrite,
  TelephonyConfig,
  TelephonyConfigPatch,
  TelephonyConfigWrite,
} from "./telephony-config.ts";

const CarrierParams = z.strictObject({ carrier: CarrierName });
const AgentParams = z.strictObject({ agent_id: Uuid });
const AccountParams = z.strictObject({ account_id: Uuid });

/** By the webhook of a carrier, whose signature is the credential. */
const byCarrier = {
  ...plain,
  method: "POST",
  scope: null,
  tag: "telephony",
  authenticated: false,
  responses: {
    200: { description: "Instructions for the carrier.", schema: null, contentType: "text/xml" },
  },
  errors: ["forbidden"],
} as const;

const onCarrier = { ...plain, path: "/api/telephony_configs/{carrier}", tag: "telephony" } as const;
const onAccount = { ...plain, path: "/api/accounts/me/telephony_config", tag: "telephony" } as const;

export const telephonyRoutes = {
  getTelephonyConfig: {
    ...onCarrier,
    method: "GET",
    scope: "read",
    summary: "Get the configuration of a carrier",
    params: CarrierParams,
    responses: { 200: json(TelephonyConfig, "The configuration, with the first characters of secrets.") },
    errors: ["not_found"],
  },
  createTelephonyConfig: {
    ...onCarrier,
    method: "POST",
    scope: "admin",
    summary: "Configure a carrier",
    params: CarrierParams,
    request: TelephonyConfigWrite,
    requestBy: {
      param: "carrier",
      schemas: {
        telephony1: Telephony1ConfigWrite,
        telephony2: Telephony2ConfigWrite,
        telephony3: Telephony3ConfigWrite,
      },
    },
    responses: { 201: json(TelephonyConfig, "The new configuration.") },
    errors: ["not_found", "conflict"],
  },
  updateTelephonyConfig: {
    ...onCarrier,
    method: "PATCH",
    scope: "admin",
    summary: "Change the configuration of a carrier",
    params: CarrierParams,
    request: TelephonyConfigPatch,
    requestBy: {
      param: "carrier",
      schemas: {
        telephony1: Telephony1ConfigPatch,
        telephony2: Telephony2ConfigPatch,
        telephony3: Telephony3ConfigPatch,
      },
    },
    partial: true,
    responses: { 200: json(TelephonyConfig, "The changed configuration.") },
    errors: ["not_found"],
  },
  deleteTelephonyConfig: {
    ...onCarrier,
    method: "DELETE",
    scope: "admin",
    summary: "Delete the configuration of a carrier, including its secrets",
    params: CarrierParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  getAccountTelephonyConfig: {
    ...onAccount,
    method: "GET",
    scope: "read",
    summary: "Get the configuration of all carriers",
    responses: { 200: json(AccountTelephonyConfig, "All configured carriers.") },
  },
  updateAccountTelephonyConfig: {
    ...onAccount,
    method: "PATCH",
    scope: "admin",
    summary: "Change several carriers at once; null removes a carrier, absent carriers stay unchanged",
    request: AccountTelephonyConfigPatch,
    partial: true,
    responses: { 200: json(AccountTelephonyConfig, "All configured carriers.") },
  },
  checkTelephonyConfig: {
    ...onCarrier,
    path: "/api/telephony_configs/{carrier}/check",
    method: "POST",
    scope: "calls",
    summary: "Ask the carrier whether its configuration works",
    params: CarrierParams,
    responses: { 200: json(TelephonyCheck, "What is wrong, with the most important first; empty: nothing.") },
    errors: ["not_found"],
  },
  answerCarrier: {
    ...byCarrier,
    path: "/api/agents/{agent_id}/telephony_xml",
    summary: "Start a call of an agent, by the webhook of a carrier; its signature is the credential",
    params: AgentParams,
  },
  answerCarrierNumber: {
    ...byCarrier,
    path: "/api/accounts/{account_id}/telephony_xml",
    summary: "Start a call of the agent that answers the called number, by the webhook of a carrier",
    params: AccountParams,
  },
} as const satisfies Record<string, Route>;
