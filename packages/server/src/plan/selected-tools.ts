/** Resolves the selection of a call or stage to compiled tools: follows references and checks that names are unique. */

import { BUILT_IN_TOOL_NAMES, MAX_SELECTED_TOOLS, Uuid } from "@parley/schema";
import type { BaseToolDefinition, FieldError, SelectedTool } from "@parley/schema";
import type { RequestedTool } from "./requested-settings.ts";
import { compileTool, definitionField } from "./compile-tools.ts";
import type { CompiledTool, FoundTool, McpServerTool, ToolGround } from "./compile-tools.ts";
import { parametersOf, unknownOverrides } from "./tool-parameters.ts";

/** A tool that can be referred to. */
export interface KnownTool {
  readonly toolId: string;
  readonly name: string;
  /** The account's own; false: public. */
  readonly own: boolean;
  /** Name of the implementation inside the service; null: it has none. */
  readonly builtIn: string | null;
  readonly definition: BaseToolDefinition;
}

/** What is wrong with the requested tools: `errors` of the request, and what this version does not do. */
export interface ToolProblems {
  readonly errors: FieldError[];
  /** Sentences that begin with the field. */
  readonly unavailable: string[];
}

/** Ids and names that have to be looked up. */
export function toolReferences(tools: readonly RequestedTool[]): {
  readonly ids: string[];
  readonly names: string[];
} {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const { tool } of tools) {
    if (tool.toolId !== undefined) ids.add(tool.toolId.toLowerCase());
    if (tool.toolName !== undefined) names.add(tool.toolName);
  }
  return { ids: [...ids], names: [...names] };
}

/** Follows the references (D65). */
export function findDefinitions(
  tools: readonly RequestedTool[],
  known: readonly KnownTool[],
  problems: ToolProblems,
): FoundTool[] {
  return tools.flatMap(({ tool, field, removable }) => {
    if (tool.temporaryTool !== undefined) return [inPlace(tool, tool.temporaryTool, field)];
    const [member, wanted] =
      tool.toolId === undefined ? ["toolName", tool.toolName ?? ""] : ["toolId", tool.toolId];
    const found = tool.toolId === undefined ? byName(wanted, known) : byId(wanted, known);
    if (found === "several") {
      const message = `names more than one tool of the account; give toolId instead`;
      problems.errors.push({ field: `${field}.${member}`, message });
      return [];
    }
    if (found === null) {
      // A removed tool need not exist.
      if (removable?.has(tool.nameOverride ?? wanted) === true) return [];
      const message = `names a tool that does not exist: ${wanted}`;
      problems.errors.push({ field: `${field}.${member}`, message });
      return [];
    }
    return referred(tool, `${field}.${member}`, field, found, problems);
  });
}

function inPlace(selection: SelectedTool, definition: BaseToolDefinition, field: string): FoundTool {
  return { selection, field, definition, toolId: null, recordName: null, builtIn: null, mcpTool: null };
}

function referred(
  selection: SelectedTool,
  reference: string,
  field: string,
  { toolId, name, builtIn, definition }: KnownTool,
  problems: ToolProblems,
): FoundTool[] {
  const runHere = BUILT_IN_TOOL_NAMES.find((each) => each === builtIn) ?? null;
  if (builtIn !== null && runHere === null) {
    problems.unavailable.push(`${reference}: ${name} is not available in this version`);
    return [];
  }
  const corpusId = selection.parameterOverrides?.["corpus_id"];
  // One that is deleted, now or later, fails as a tool.
  if (runHere === "queryCorpus" && corpusId !== undefined && !Uuid.safeParse(corpusId).success) {
    const message = `must be the id of a corpus, not ${JSON.stringify(corpusId)}`;
    problems.errors.push({ field: `${field}.parameterOverrides.corpus_id`, message });
    return [];
  }
  return [{ selection, field, definition, toolId, recordName: name, builtIn: runHere, mcpTool: null }];
}

function byId(wanted: string, known: readonly KnownTool[]): KnownTool | null {
  return known.find(({ toolId }) => toolId.toLowerCase() === wanted.toLowerCase()) ?? null;
}

/** Own tools win over public ones of the same name. */
function byName(wanted: string, known: readonly KnownTool[]): KnownTool | "several" | null {
  const named = known.filter(({ name }) => name === wanted);
  const own = named.filter((tool) => tool.own);
  if (own.length > 1) return "several";
  return own[0] ?? named[0] ?? null;
}

/** Whether the server must be queried: for its tools, or for the arguments of one. */
export function asksServer({ definition }: FoundTool): boolean {
  const { mcp, dynamicParameters } = definition;
  return mcp !== undefined && (mcp.toolName === undefined || dynamicParameters === undefined);
}

/** Where a fault of the server stands: in the definition, or at the reference that leads to it. */
export function serverField(tool: FoundTool, member: "serverUrl" | "toolName"): string {
  const field = definitionField(tool);
  return tool.selection.temporaryTool === undefined ? field : `${field}.mcp.${member}`;
}

/** The tools of a server that the selection stands for. */
export function toolsOfServer(
  tool: FoundTool,
  offered: readonly McpServerTool[],
  problems: ToolProblems,
): FoundTool[] {
  const { definition, selection, field } = tool;
  const wanted = definition.mcp?.toolName;
  const chosen = wanted === undefined ? offered : offered.filter(({ name }) => name === wanted);
  const report = (place: string, message: string): FoundTool[] => {
    problems.errors.push({ field: place, message });
    return [];
  };
  if (chosen.length === 0) {
    return wanted === undefined
      ? report(
          serverField(tool, "serverUrl"),
          "must be the address of a server with tools; this one has none",
        )
      : report(
          serverField(tool, "toolName"),
          `must be a tool of the server; it has none of the name ${wanted}`,
        );
  }
  if (chosen.length > 1 && selection.nameOverride !== undefined) {
    return report(`${field}.nameOverride`, `must not be given for all ${chosen.length} tools of a server`);
  }
  return chosen.map((mcpTool) => ({ ...tool, mcpTool }));
}

/** Overrides without effect: no tool of the selection has such a parameter. */
function overridesNowhere(group: readonly FoundTool[]): FieldError[] {
  const [first] = group;
  if (first === undefined) return [];
  const overrides = first.selection.parameterOverrides ?? {};
  const unknown = group.map(({ definition, mcpTool }) =>
    unknownOverrides(parametersOf(definition, mcpTool?.inputSchema ?? null), definition, overrides),
  );
  return (unknown[0] ?? [])
    .filter((name) => unknown.every((names) => names.includes(name)))
    .map((name) => ({
      field: `${first.field}.parameterOverrides.${name}`,
      message: "must be the name of a parameter of the tool",
    }));
}

/**
 * Compiles all of them. Tools whose model-facing name is in `removed` of their selection are left out; the names of the
 * rest must be their own (D138).
 */
export function compileTools(
  found: readonly FoundTool[],
  requested: readonly RequestedTool[],
  ground: ToolGround,
  problems: ToolProblems,
): readonly CompiledTool[] {
  const removable = new Map(requested.map(({ field, removable: names }) => [field, names]));
  const placeOf = new Map<string, string>();
  const compiled: CompiledTool[] = [];
  const fields = [...new Set(found.map(({ field }) => field))];
  for (const field of fields) {
    const group = found.filter((tool) => tool.field === field);
    problems.errors.push(...overridesNowhere(group));
    for (const tool of group) {
      const result = compileTool(tool, ground);
      if ("errors" in result) {
        problems.errors.push(...result.errors);
        continue;
      }
      const { name } = result.compiled.plan;
      if (removable.get(field)?.has(name) === true) continue;
      const earlier = placeOf.get(name);
      if (earlier !== undefined) {
        const message = `must have a unique name; ${earlier} is already called ${name}`;
        problems.errors.push({ field, message });
        continue;
      }
      placeOf.set(name, field);
      compiled.push(result.compiled);
    }
  }
  if (compiled.length > MAX_SELECTED_TOOLS) {
    const message = `must be at most ${MAX_SELECTED_TOOLS} tools together with those of servers; they are ${compiled.length}`;
    problems.errors.push({
      field: (requested[0]?.field ?? "selectedTools.0").replace(/\.\d+$/, ""),
      message,
    });
  }
  return compiled;
}
