/** The operations on tools. */

import { z } from "zod";
import { Uuid } from "./fields.ts";
import { pageOf } from "./page.ts";
import { ListToolsQuery, PageQuery } from "./queries.ts";
import { json, noContent, plain, type Route } from "./route.ts";
import { Tool, ToolHistory, ToolTest, ToolWrite } from "./tool-record.ts";

const ToolParams = z.strictObject({ tool_id: Uuid });

export const ToolHistoryPage = pageOf(ToolHistory);
export const ToolPage = pageOf(Tool);

/** Larger descriptions of interfaces exist, but not with a number of operations that a model could choose from. */
export const MAX_OPENAPI_BYTES = 10 * 1024 * 1024;
/** Names the tools that an import has made, comma-separated. */
export const CREATED_TOOLS_HEADER = "X-Service-Created-Tools";

export const toolRoutes = {
  listTools: {
    ...plain,
    method: "GET",
    path: "/api/tools",
    tag: "tools",
    summary: "List tools, own ones and those of everybody",
    query: ListToolsQuery,
    responses: { 200: json(ToolPage, "A page of tools.") },
  },
  createTool: {
    ...plain,
    method: "POST",
    path: "/api/tools",
    tag: "tools",
    summary: "Create a tool, or one for each operation of an OpenAPI document",
    request: ToolWrite,
    upload: {
      field: "file",
      description:
        "An OpenAPI 3.0 or 3.1 document, JSON or YAML. All of its operations become tools, or none.",
      maxBytes: MAX_OPENAPI_BYTES,
    },
    responses: {
      201: {
        ...json(Tool, "The new tool; of an imported document the first one."),
        headers: { [CREATED_TOOLS_HEADER]: "After an import: the ids of all tools made, comma-separated." },
      },
    },
    errors: ["conflict"],
  },
  getTool: {
    ...plain,
    method: "GET",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Read a tool",
    params: ToolParams,
    responses: { 200: json(Tool, "The tool.") },
    errors: ["not_found"],
  },
  replaceTool: {
    ...plain,
    method: "PUT",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Replace a tool as a whole; calls that go on keep what they began with",
    params: ToolParams,
    request: ToolWrite,
    responses: { 200: json(Tool, "The changed tool.") },
    errors: ["not_found"],
  },
  deleteTool: {
    ...plain,
    method: "DELETE",
    path: "/api/tools/{tool_id}",
    tag: "tools",
    summary: "Delete a tool; agents that name it can make no calls until they are changed",
    params: ToolParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  listToolHistory: {
    ...plain,
    method: "GET",
    path: "/api/tools/{tool_id}/history",
    tag: "tools",
    summary: "List the calls that had a tool",
    params: ToolParams,
    query: PageQuery,
    responses: { 200: json(ToolHistoryPage, "A page of calls with how often the tool failed in each.") },
    errors: ["not_found"],
  },
  testTool: {
    ...plain,
    method: "POST",
    path: "/api/tools/{tool_id}/test",
    tag: "tools",
    summary: "Run an http tool once, without a call; the body gives its parameters by their names",
    params: ToolParams,
    request: ToolTest,
    responses: {
      200: {
        description: "What the tool answered: its own status, type and body.",
        schema: null,
        contentType: "*/*",
      },
    },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
