/** Converts the parameters of an operation to parameters of a tool. */

import { type Json, listOf, objectOf, OpenApiFault, resolve, textOf } from "./local-references.ts";
import { checkParameterSize, type SchemaBudget, takeCharacters } from "./schema-budget.ts";
import { wholeSchema } from "./whole-schema.ts";

export interface ToolParameter {
  readonly name: string;
  readonly location: string;
  readonly schema: Json;
  readonly required: boolean;
}

const LOCATIONS: Readonly<Record<string, string>> = {
  query: "PARAMETER_LOCATION_QUERY",
  path: "PARAMETER_LOCATION_PATH",
  header: "PARAMETER_LOCATION_HEADER",
};
/** OpenAPI says that parameters of these names are to be ignored. */
const IGNORED_HEADERS = new Set(["accept", "content-type", "authorization"]);

interface ParameterList {
  readonly list: readonly unknown[];
  readonly place: string;
}

/** A later list wins over an earlier one. */
export function parametersOf(
  document: Json,
  lists: readonly ParameterList[],
  budget: SchemaBudget,
): readonly ToolParameter[] {
  const found = new Map<string, ToolParameter>();
  for (const { list, place } of lists) {
    list.forEach((value, index) => {
      const at = `${place}.${index}`;
      const parameter = resolve(document, value, at) ?? {};
      const [name, where] = [textOf(parameter["name"]), textOf(parameter["in"])];
      if (name === null || where === null) throw new OpenApiFault(at, "must have a name and a place (in)");
      if (where === "header" && IGNORED_HEADERS.has(name.toLowerCase())) return;
      const location = LOCATIONS[where];
      const required = parameter["required"] === true || where === "path";
      if (location === undefined) {
        if (required)
          throw new OpenApiFault(at, `must not be required in the ${where}: tools have no such place`);
        return;
      }
      takeCharacters(budget, name.length, at);
      const schema = parameterSchema(document, parameter, at, budget);
      found.set(`${where} ${name}`, { name, location, schema, required });
    });
  }
  return [...found.values()];
}

function parameterSchema(document: Json, parameter: Json, place: string, budget: SchemaBudget): Json {
  const [content] = Object.values(objectOf(parameter["content"]) ?? {});
  const given = parameter["schema"] ?? objectOf(content)?.["schema"];
  const schema = given === undefined ? { type: "string" } : wholeSchema(document, given, place, budget);
  const description = textOf(parameter["description"]);
  takeCharacters(budget, description?.length ?? 0, place);
  const shown = description === null ? schema : { ...schema, description };
  checkParameterSize(shown, place);
  return shown;
}

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;.*)?$/i;

/** The members of a JSON body. */
export function bodyParameters(
  document: Json,
  value: unknown,
  place: string,
  budget: SchemaBudget,
): readonly ToolParameter[] {
  const body = value === undefined ? null : resolve(document, value, place);
  if (body === null) return [];
  const [content] = Object.entries(objectOf(body["content"]) ?? {}).filter(([type]) => JSON_TYPE.test(type));
  if (content === undefined) {
    if (body["required"] === true) throw new OpenApiFault(place, "must accept JSON: tools send nothing else");
    return [];
  }
  const [type, { schema: given }] = [content[0], objectOf(content[1]) ?? {}];
  const at = `${place}.content.${type}.schema`;
  const schema = wholeSchema(document, given ?? {}, at, budget);
  const parts = [schema, ...listOf(schema["allOf"]).map((part) => objectOf(part) ?? {})];
  const properties = parts.flatMap((part) => Object.entries(objectOf(part["properties"]) ?? {}));
  const isObject = parts.some((part) => part["type"] === "object") || properties.length > 0;
  if (!isObject) throw new OpenApiFault(at, "must be an object");
  const needed = new Set(parts.flatMap((part) => listOf(part["required"])));
  const members = new Map(properties);
  return [...members].flatMap(([name, member]): ToolParameter[] => {
    const memberSchema = objectOf(member) ?? {};
    if (memberSchema["readOnly"] === true) return [];
    checkParameterSize(memberSchema, `${at}.properties.${name}`);
    const required = body["required"] === true && needed.has(name);
    return [{ name, location: "PARAMETER_LOCATION_BODY", schema: memberSchema, required }];
  });
}
