/** Names and attributes of the spans of requests. None has a text, an argument, a result, a header or an address. */

import type { ServerDataMessage } from "@parley/schema";
import type { EffectOf, ReplyRequest, ToolInvocationRequest } from "../../call/effects.ts";
import type { EngineOrigin } from "../../ports/engine-origin.ts";
import type { LlmEngine } from "../../ports/llm.ts";
import type { SpanAttributes, SpanStart } from "../../ports/traces.ts";

export interface RequestStart extends Pick<SpanStart, "name" | "kind" | "attributes"> {
  /** What says which engine it is: replaced where another one of a list answers. Unset: it has no engine. */
  readonly engine?: SpanAttributes;
}

type Engine = EngineOrigin & { readonly name: string };

export function chatStart(
  { model, temperature, messages, tools }: ReplyRequest,
  llm: Engine & Pick<LlmEngine, "engineOf">,
): RequestStart {
  const engine = llm.engineOf?.(model) ?? llm;
  const isOther = engine !== llm;
  return engineStart("chat", engine, model === "default" || isOther ? (engine.model ?? model) : model, {
    "gen_ai.output.type": "text",
    "gen_ai.request.stream": true,
    "gen_ai.request.temperature": temperature,
    "parley.messages": messages.length,
    "parley.tools": tools.length,
  });
}

/** @param revision counts the requests for one utterance */
export function recogniserStart(revision: number, engine: Engine): RequestStart {
  return engineStart("speech_to_text", engine, engine.model, {
    "gen_ai.output.type": "text",
    "parley.transcript.revision": revision,
  });
}

export function voiceStart({ text, voice }: EffectOf<"synthesize">, engine: Engine): RequestStart {
  const name = voice.kind === "deployment" ? voice.name : voice.voiceId;
  return engineStart("text_to_speech", engine, engine.model, {
    "gen_ai.output.type": "speech",
    "parley.text_chars": text.length,
    ...(name === null ? {} : { "parley.voice": name }),
  });
}

export function toolStart({ invocationId, toolName, implementation }: ToolInvocationRequest): RequestStart {
  const { kind } = implementation;
  return toolSpan(toolName, invocationId, kind, kind === "builtIn" ? "internal" : "client");
}

/** Null: the message invokes no tool. */
export function clientToolStart(
  message: ServerDataMessage,
): (RequestStart & { readonly invocationId: string }) | null {
  if (message.type !== "client_tool_invocation" && message.type !== "data_connection_tool_invocation")
    return null;
  const { toolName, invocationId } = message;
  const kind = message.type === "client_tool_invocation" ? "client" : "dataConnection";
  return { ...toolSpan(toolName, invocationId, kind, "client"), invocationId };
}

function engineStart(
  operation: string,
  engine: Engine,
  model: string | undefined,
  attributes: SpanAttributes,
): RequestStart {
  return {
    name: engineSpanName(operation, model),
    kind: engine.server === undefined ? "internal" : "client",
    attributes: { "gen_ai.operation.name": operation, ...attributes },
    engine: engineAttributes(engine, model),
  };
}

/** @param model as it is asked for */
export function engineAttributes({ name, server }: Engine, model: string | undefined): SpanAttributes {
  return {
    "gen_ai.provider.name": name,
    ...(model === undefined ? {} : { "gen_ai.request.model": model }),
    ...(server === undefined ? {} : { "server.address": server.address, "server.port": server.port }),
  };
}

export function engineSpanName(operation: string, model: string | undefined): string {
  return model === undefined ? operation : `${operation} ${model}`;
}

function toolSpan(
  toolName: string,
  invocationId: string,
  implementation: string,
  kind: SpanStart["kind"],
): RequestStart {
  return {
    name: `execute_tool ${toolName}`,
    kind,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "gen_ai.tool.call.id": invocationId,
      "gen_ai.tool.type": kind === "client" && implementation !== "client" ? "extension" : "function",
      "parley.tool.kind": implementation,
    },
  };
}
