/** Creates one tool from each operation of an OpenAPI 3.0 or 3.1 document (D66). All or none. */

import { type FieldError, MAX_TOOL_NAME_LENGTH, ToolWrite } from "@parley/schema";
import type { OpenApiTools } from "../../ports/openapi-tools.ts";
import { type Json, listOf, objectOf, OpenApiFault, resolve, textOf } from "./local-references.ts";
import { bodyParameters, parametersOf, type ToolParameter } from "./operation-parameters.ts";
import { securityOf } from "./operation-security.ts";
import { readDocument } from "./read-document.ts";
import { beginOperation, importBudget, isSpent, type SchemaBudget, takeValue } from "./schema-budget.ts";

/** Limit of operations: no model chooses well from more. */
const MAX_OPERATIONS = 200;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];
const MAX_DESCRIPTION = 16_384;

export function toolsOfOpenApi(bytes: Uint8Array): OpenApiTools {
  const errors: FieldError[] = [];
  const tools: ToolWrite[] = [];
  try {
    const document = readDocument(bytes);
    const operations = operationsOf(document);
    const names = new Set<string>();
    const budget = importBudget();
    for (const operation of operations) {
      try {
        tools.push(toolOf(document, operation, names, budget));
      } catch (error) {
        if (!(error instanceof OpenApiFault)) throw error;
        errors.push({ field: error.place, message: error.message });
        if (isSpent(budget)) break;
      }
    }
  } catch (error) {
    if (!(error instanceof OpenApiFault)) throw error;
    errors.push({ field: error.place, message: error.message });
  }
  return errors.length > 0 ? { errors } : { tools };
}

interface Operation {
  readonly place: string;
  readonly path: string;
  readonly method: string;
  readonly item: Json;
  readonly operation: Json;
}

function operationsOf(document: Json): readonly Operation[] {
  const found = Object.entries(objectOf(document["paths"]) ?? {}).flatMap(([path, value]) => {
    const item = resolve(document, value, `paths.${path}`) ?? {};
    return METHODS.flatMap((method): Operation[] => {
      const operation = objectOf(item[method]);
      return operation === null ? [] : [{ place: `paths.${path}.${method}`, path, method, item, operation }];
    });
  });
  if (found.length === 0) throw new OpenApiFault("paths", "must have an operation");
  if (found.length > MAX_OPERATIONS) {
    throw new OpenApiFault("paths", `must have at most ${MAX_OPERATIONS} operations; it has ${found.length}`);
  }
  return found;
}

function toolOf(document: Json, from: Operation, names: Set<string>, budget: SchemaBudget): ToolWrite {
  const { place, path, method, item, operation } = from;
  beginOperation(budget);
  const lists = [
    { list: listOf(item["parameters"]), place: `paths.${path}.parameters` },
    { list: listOf(operation["parameters"]), place: `${place}.parameters` },
  ];
  const parameters: readonly ToolParameter[] = [
    ...parametersOf(document, lists, budget),
    ...bodyParameters(document, operation["requestBody"], `${place}.requestBody`, budget),
  ];
  const description = [textOf(operation["summary"]), textOf(operation["description"])]
    .filter((text) => text !== null && text !== "")
    .join("\n")
    .slice(0, MAX_DESCRIPTION);
  const options = securityOf(document, operation, place);
  takeValue(budget, options, `${place}.security`);
  const name = ownName(
    textOf(operation["operationId"]) ?? `${method}${path.replaceAll(/[^\p{L}\p{N}]+/gu, "_")}`,
    names,
  );
  const checked = ToolWrite.safeParse({
    name,
    definition: {
      modelToolName: name.replaceAll(/[^a-zA-Z0-9_-]/g, "_"),
      ...(description === "" ? {} : { description }),
      ...(parameters.length === 0 ? {} : { dynamicParameters: parameters }),
      ...(options.length === 0 ? {} : { requirements: { httpSecurityOptions: { options } } }),
      http: { baseUrlPattern: `${serverOf(document, from)}${path}`, httpMethod: method.toUpperCase() },
    },
  });
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new OpenApiFault(
    place,
    `cannot be turned into a tool: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  );
}

/** The name, cut to the stored length and different from all earlier ones. */
function ownName(wanted: string, names: Set<string>): string {
  const plain = wanted.replaceAll(/[^\p{L}\p{N}_.-]+/gu, "_").replaceAll(/^_+|_+$/g, "") || "operation";
  let name = plain.slice(0, MAX_TOOL_NAME_LENGTH);
  for (let count = 2; names.has(name); count += 1) {
    const end = `_${count}`;
    name = `${plain.slice(0, MAX_TOOL_NAME_LENGTH - end.length)}${end}`;
  }
  names.add(name);
  return name;
}

/** The first server of the operation, its path or the document, its variables at their defaults. */
function serverOf(document: Json, { operation, item, place }: Operation): string {
  const [server] = [operation, item, document]
    .map(({ servers }) => objectOf(listOf(servers)[0]))
    .filter(isThere);
  const variables = objectOf(server?.["variables"]) ?? {};
  const url = (textOf(server?.["url"]) ?? "").replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = objectOf(variables[name])?.["default"];
    return typeof value === "string" ? value : whole;
  });
  if (!/^https?:\/\//i.test(url)) {
    throw new OpenApiFault(place, "needs a server whose url begins with http:// or https://");
  }
  return url.replace(/\/+$/, "");
}

function isThere(server: Json | null): server is Json {
  return server !== null;
}
