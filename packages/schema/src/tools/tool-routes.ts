/** Routes of tools. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { ListToolsQuery, PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { Tool, ToolHistory, ToolTest, ToolWrite } from "./tool-record.ts";

const ToolParams = z.strictObject({ tool_id: Uuid });

export const ToolHistoryPage = pageOf(ToolHistory);
export const ToolPage = pageOf(Tool);

/** Larger OpenAPI documents exist, but they have more operations than a model can choose from. */
export const MAX_OPENAPI_BYTES = 10 * 1024 * 1024;
/** Ids of the tools that an import created, comma-separated. */
export const CREATED_TOOLS_HEADER = "X-Service-Created-Tools";

export const toolRoutes = {
  listTools: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/tools",
    tag: "tools",
    summary: "List tools, your own and public ones",
    query: ListToolsQuery,
    responses: { 200: json(ToolPage, "A page of tools.") },
  },
  createTool: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/tools",
    tag: "tools",
    summary: "Create a tool, or import one tool per operation of an OpenAPI document",
    request: ToolWrite,
    upload: {
      field: "file",
      description:
        "An OpenAPI 3.0 or 3.1 document, JSON or YAML. All of its operations become tools, or none do.",
      maxBytes: MAX_OPENAPI_BYTES,
    },
    responses: {
      201: {
        ...json(Tool, "The new tool; after an import, the first one."),
        headers: { [CREATED_TOOLS_HEADER]: "After an import: the ids of all new tools, comma-separated." },
      },
    },
    errors: ["conflict"],
  },
  getTool: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Get a tool",
    params: ToolParams,
    responses: { 200: json(Tool, "The tool.") },
    errors: ["not_found"],
  },
  replaceTool: {
    ...plain,
    method: "PUT",
    scope: "admin",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Replace a tool; running calls keep the old definition",
    params: ToolParams,
    request: ToolWrite,
    responses: { 200: json(Tool, "The changed tool.") },
    errors: ["not_found"],
  },
  deleteTool: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Delete a tool; agents that use it cannot make calls until they are changed",
    params: ToolParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  listToolHistory: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/tools/{tool_id}/history",
    tag: "tools",
    summary: "List the calls that had the tool available",
    params: ToolParams,
    query: PageQuery,
    responses: {
      200: json(ToolHistoryPage, "A page of calls, with the number of failures of the tool in each."),
    },
    errors: ["not_found"],
  },
  testTool: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/tools/{tool_id}/test",
    tag: "tools",
    summary: "Run an HTTP tool once, without a call; the body has its parameters by name",
    params: ToolParams,
    request: ToolTest,
    responses: {
      200: {
        description: "The response of the tool: its status, content type and body.",
        schema: null,
        contentType: "*/*",
      },
    },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
