/** Converts the result of an MCP tool to text for a model. Pure. */

import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { ToolOutcome } from "@parley/schema";
import {
  cutBytes,
  cutChars,
  cutResult,
  MAX_DETAIL_BYTES,
  MAX_FAILURE_CHARS,
  resultWithoutSecrets,
  withoutSecrets,
} from "../tool-text.ts";

/**
 * @param secrets masked in failures, for the record and the model
 * @param inResults the same for successful results, of which nothing else may be masked
 */
export function mcpAnswer(
  result: CallToolResult,
  secrets: readonly string[],
  inResults: readonly string[],
): ToolOutcome {
  const text = textOf(result);
  if (result.isError === true)
    return mcpFailure("error", text === "" ? "no reason was given" : text, text, secrets);
  return {
    kind: "completed",
    result: text === "" ? "OK" : cutResult(resultWithoutSecrets(text, inResults)),
    responseType: "tool-response",
    reaction: null,
    updateCallState: null,
  };
}

export function mcpFailure(
  cause: "timeout" | "error",
  reason: string,
  details: string,
  secrets: readonly string[],
): ToolOutcome {
  return {
    kind: "failed",
    cause,
    text: `The tool failed: ${cutChars(withoutSecrets(reason, secrets), MAX_FAILURE_CHARS)}`,
    errorDetails: cutBytes(Buffer.from(withoutSecrets(details, secrets)), MAX_DETAIL_BYTES) || reason,
  };
}

/** The texts of the content; without any, the structured data of the tool, or a note about other content. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const texts = content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "resource" && "text" in part.resource ? [part.resource.text] : [];
  });
  if (texts.length > 0) return texts.join("\n");
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  return content.map(describe).join("\n");
}

function describe(part: CallToolResult["content"][number]): string {
  if (part.type === "text") return part.text;
  if (part.type === "resource_link") return `${part.name}: ${part.uri}`;
  return binary((part.type === "resource" ? part.resource.mimeType : part.mimeType) ?? "unknown type");
}

function binary(type: string): string {
  return `[Binary content that cannot be shown: ${type.slice(0, 100)}.]`;
}
