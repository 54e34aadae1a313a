/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Tool,
  ToolHistory,
  ToolHistoryPage,
  ToolPage,
  ToolWrite,
} from "../records/tools.ts";

/** List tools, your own and public ones: `GET /api/tools`. Needs the scope `read`. */
export interface ListToolsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    ownership?: "public" | "private" | undefined;
    /** Part of the name or the description; case is ignored. At most 1000 characters. */
    search?: string | undefined;
    /**
     * `default`: private tools before public tools, newest first. `display`: public tools by name, then
     * private tools newest first. Others: by name or by creation. Default: `"default"`.
     */
    sortOrder?:
      | "default"
      | "display"
      | "alphabetic"
      | "reverseAlphabetic"
      | "chronologic"
      | "reverseChronologic"
      | undefined;
  } | undefined;
}

/**
 * Create a tool, or import one tool per operation of an OpenAPI document: `POST /api/tools`. Needs the scope
 * `admin`.
 */
export interface CreateToolInput extends RequestOptions {
  readonly body?: ToolWrite | undefined;
  /** Instead of a body: a form with `file`. */
  readonly form?: FormData | undefined;
}

/** Get a tool: `GET /api/tools/{tool_id}`. Needs the scope `read`. */
export interface GetToolInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    tool_id: string;
  };
}

/**
 * Replace a tool; running calls keep the old definition: `PUT /api/tools/{tool_id}`. Needs the scope `admin`.
 */
export interface ReplaceToolInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    tool_id: string;
  };
  readonly body: ToolWrite;
}

/**
 * Delete a tool; agents that use it cannot make calls until they are changed: `DELETE /api/tools/{tool_id}`.
 * Needs the scope `admin`.
 */
export interface DeleteToolInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    tool_id: string;
  };
}

/**
 * List the calls that had the tool available: `GET /api/tools/{tool_id}/history`. Needs the scope `read`.
 */
export interface ListToolHistoryInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    tool_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Run an HTTP tool once, without a call; the body has its parameters by name: `POST
 * /api/tools/{tool_id}/test`. Needs the scope `calls`.
 */
export interface TestToolInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    tool_id: string;
  };
  /**
   * Values of parameters by name. `authTokens`, an object of texts, meets the security requirements of the
   * tool; it is the value of a parameter if the tool has one of that name.
   */
  readonly body?: Record<string, unknown> | undefined;
}

export interface ToolsOperations {
  /** List tools, your own and public ones. */
  "GET /api/tools": { input: ListToolsInput; output: ToolPage; row: Tool };
  /** Create a tool, or import one tool per operation of an OpenAPI document. */
  "POST /api/tools": { input: CreateToolInput; output: Tool };
  /** Get a tool. */
  "GET /api/tools/{tool_id}": { input: GetToolInput; output: Tool };
  /** Replace a tool; running calls keep the old definition. */
  "PUT /api/tools/{tool_id}": { input: ReplaceToolInput; output: Tool };
  /** Delete a tool; agents that use it cannot make calls until they are changed. */
  "DELETE /api/tools/{tool_id}": { input: DeleteToolInput; output: undefined };
  /** List the calls that had the tool available. */
  "GET /api/tools/{tool_id}/history": { input: ListToolHistoryInput; output: ToolHistoryPage; row: ToolHistory };
  /** Run an HTTP tool once, without a call; the body has its parameters by name. */
  "POST /api/tools/{tool_id}/test": { input: TestToolInput; output: Response };
}
