/** Rules that can be checked with the document of a tool alone. */

import { asList, asObject, asText, type Report } from "../values/check.ts";
import { setKeys } from "../values/one-of.ts";

const IMPLEMENTATIONS = ["http", "client", "dataConnection", "mcp"] as const;
const PARAMETER_LISTS = ["dynamicParameters", "staticParameters", "automaticParameters"] as const;

interface Parameter {
  readonly path: readonly [string, number];
  readonly name: string;
  /** QUERY, PATH, HEADER, BODY, or null when unset. */
  readonly location: string | null;
}

function parametersOf(definition: Readonly<Record<string, unknown>>): Parameter[] {
  return PARAMETER_LISTS.flatMap((list) =>
    asList(definition[list]).flatMap((entry, index): Parameter[] => {
      const { name, location } = asObject(entry) ?? {};
      const given = asText(location)?.replace("PARAMETER_LOCATION_", "") ?? null;
      return typeof name === "string" ? [{ path: [list, index], name, location: given }] : [];
    }),
  );
}

/** Rules of one definition: implementations, parameter places and names, the URL pattern. */
export function checkDefinition(value: unknown, report: Report): void {
  const definition = asObject(value);
  if (definition === null) return;
  const implementations = setKeys(definition, IMPLEMENTATIONS);
  const wanted = `must have exactly one of ${IMPLEMENTATIONS.join(", ")}, or staticResponse alone`;
  if (implementations.length > 1) report([], `${wanted}; it has ${implementations.join(" and ")}`);
  if (implementations.length === 0 && setKeys(definition, ["staticResponse"]).length === 0)
    report([], wanted);
  const parameters = parametersOf(definition);
  checkNames(parameters, report);
  const http = asObject(definition["http"]);
  if (http !== null) checkHttp(http, parameters, report);
  if (implementations.includes("client") || implementations.includes("dataConnection")) {
    for (const { path, location } of parameters) {
      if (location !== null && location !== "BODY") {
        report(
          [...path, "location"],
          "must be PARAMETER_LOCATION_BODY, because the tool is not an http tool",
        );
      }
    }
  }
}

function checkNames(parameters: readonly Parameter[], report: Report): void {
  const seen = new Set<string>();
  for (const { name, path } of parameters) {
    if (seen.has(name)) report([...path, "name"], "must be unique among the tool's parameters");
    seen.add(name);
  }
}

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The pattern as a URL that can be parsed. */
export function withoutPlaceholders(pattern: string): string {
  return pattern.replaceAll(PLACEHOLDER, "x");
}

function checkHttp(
  http: Readonly<Record<string, unknown>>,
  parameters: readonly Parameter[],
  report: Report,
): void {
  const method = asText(http["httpMethod"])?.toUpperCase() ?? null;
  if (method === "GET" || method === "HEAD") {
    for (const { path, location } of parameters) {
      if (location === "BODY")
        report([...path, "location"], `must not be in the body of a ${method} request`);
    }
  }
  const pattern = asText(http["baseUrlPattern"]);
  if (pattern === null) return;
  const field = ["http", "baseUrlPattern"];
  const problem = patternProblem(pattern);
  if (problem !== null) {
    report(field, problem);
    return;
  }
  const places = new Set([...pattern.matchAll(PLACEHOLDER)].map(([, name]) => name ?? ""));
  const inPath = parameters.filter(({ location }) => location === "PATH");
  for (const name of places) {
    if (!inPath.some((parameter) => parameter.name === name)) {
      report(field, `must have a PATH parameter for each placeholder; {${name}} has none`);
    }
  }
  for (const { name, path } of inPath) {
    if (!places.has(name)) report([...path, "name"], `must have its place {${name}} in http.baseUrlPattern`);
  }
}

function patternProblem(pattern: string): string | null {
  if (/%7[bB]|%7[dD]/.test(pattern)) return "must contain its placeholders as {name}, not percent-encoded";
  const sample = withoutPlaceholders(pattern);
  const parsed = URL.parse(sample);
  if (parsed === null || !/^https?:\/\//i.test(sample))
    return "must be a URL that begins with http:// or https://";
  if (/[{}]/.test(sample)) return "must contain its placeholders as {name}";
  if (sample.includes("?") || sample.includes("#")) return "must have neither a query nor a fragment";
  return null;
}

/** Rules between a selected tool's own definition and what the selection gives it. */
export function checkSelection(value: unknown, report: Report): void {
  const selection = asObject(value);
  const definition = asObject(selection?.["temporaryTool"]);
  if (selection === null || definition === null) return;
  const isServer = setKeys(definition, ["mcp"]).length > 0;
  if (
    !isServer &&
    setKeys(definition, ["modelToolName"]).length + setKeys(selection, ["nameOverride"]).length === 0
  ) {
    report(["temporaryTool", "modelToolName"], "is required, because the tool has no other name");
  }
  const requirements = asObject(definition["requirements"]);
  if (requirements === null) return;
  const overrides = Object.keys(asObject(selection["parameterOverrides"]) ?? {});
  for (const name of asList(requirements["requiredParameterOverrides"])) {
    if (typeof name === "string" && !overrides.includes(name)) {
      report(["parameterOverrides"], `must give ${name}, because the tool requires it`);
    }
  }
  const options = asList(asObject(requirements["httpSecurityOptions"])?.["options"]);
  const tokens = Object.keys(asObject(selection["authTokens"]) ?? {});
  if (options.length > 0 && !options.some((option) => isMet(option, tokens))) {
    report(["authTokens"], "must meet one of the tool's httpSecurityOptions");
  }
}

function isMet(option: unknown, tokens: readonly string[]): boolean {
  const names = Object.keys(asObject(asObject(option)?.["requirements"]) ?? {});
  return names.every((name) => tokens.includes(name));
}
