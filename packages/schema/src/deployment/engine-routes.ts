/** Routes of the engines of the deployment. */

import { z } from "zod";
import { json, plain, type Route } from "../routes/route.ts";
import {
  DeploymentEngines,
  DeploymentEnginesPatch,
  EngineTest,
  EngineTestRequest,
  LocalModelServer,
} from "./engine.ts";

const base = { ...plain, tag: "deployment", takesOperatorKey: true } as const;

export const engineRoutes = {
  getEngines: {
    ...base,
    method: "GET",
    scope: "read",
    path: "/api/deployment/engines",
    summary: "Get the engines that new calls use, and what chose them",
    responses: { 200: json(DeploymentEngines, "The engines, without their keys.") },
  },
  updateEngines: {
    ...base,
    method: "PATCH",
    scope: "admin",
    path: "/api/deployment/engines",
    summary: "Change the engines of new calls; needs the operator key",
    request: DeploymentEnginesPatch,
    partial: true,
    responses: { 200: json(DeploymentEngines, "The engines, after a look at each changed server.") },
    errors: ["not_available"],
  },
  testEngine: {
    ...base,
    method: "POST",
    scope: "calls",
    path: "/api/deployment/engines/test",
    summary: "Use an engine once, and measure how long it takes",
    request: EngineTestRequest,
    responses: { 200: json(EngineTest, "The result, also if the engine failed.") },
    errors: ["not_found"],
  },
  listLocalServers: {
    ...base,
    method: "GET",
    scope: "read",
    path: "/api/deployment/local_servers",
    summary: "Look for model servers at their usual ports on the machine of the service",
    responses: { 200: json(z.array(LocalModelServer), "The servers that list models.") },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
