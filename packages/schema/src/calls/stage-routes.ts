/** Routes of the stages of a call. */

import { z } from "zod";
import { PageQuery } from "../routes/queries.ts";
import { json, plain, type Route } from "../routes/route.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { MessagePage } from "./call-routes.ts";
import { CallStage, CallTool } from "./call.ts";

const CallParams = z.strictObject({ call_id: Uuid });
const StageParams = z.strictObject({ call_id: Uuid, call_stage_id: Uuid });

export const CallStagePage = pageOf(CallStage);

export const stageRoutes = {
  listCallStages: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/stages",
    tag: "stages",
    summary: "List the stages of a call",
    params: CallParams,
    query: PageQuery,
    responses: { 200: json(CallStagePage, "A page of stages, oldest first.") },
    errors: ["not_found"],
  },
  getCallStage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/stages/{call_stage_id}",
    tag: "stages",
    summary: "Get a stage",
    params: StageParams,
    responses: { 200: json(CallStage, "The stage.") },
    errors: ["not_found"],
  },
  listCallStageMessages: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/messages",
    tag: "stages",
    summary: "List the messages of a stage",
    params: StageParams,
    query: PageQuery,
    responses: { 200: json(MessagePage, "A page of messages, oldest first.") },
    errors: ["not_found"],
  },
  listCallStageTools: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/tools",
    tag: "stages",
    summary: "List the tools that were available in a stage",
    params: StageParams,
    responses: { 200: json(z.array(CallTool), "All tools of the stage.") },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
