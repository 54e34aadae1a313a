/** Converts the security schemes of an operation to the alternatives of a tool. */

import { type Json, listOf, objectOf, OpenApiFault, resolve, textOf } from "./local-references.ts";

/** Alternatives that a tool cannot meet are left out. An operation without any other alternative is refused. */
export function securityOf(document: Json, operation: Json, place: string): readonly Json[] {
  const wanted = listOf(operation["security"] ?? document["security"]);
  const schemes = objectOf(objectOf(document["components"])?.["securitySchemes"]) ?? {};
  const options = wanted.flatMap((value, index): Json[] => {
    const names = Object.keys(objectOf(value) ?? {});
    const entries = names.map((name): [string, Json | null] => {
      const at = `${place}.security.${index}.${name}`;
      const scheme = resolve(document, schemes[name], at);
      if (scheme === null) throw new OpenApiFault(at, "must be one of components.securitySchemes");
      return [name, requirementOf(scheme)];
    });
    if (entries.some(([, requirement]) => requirement === null)) return [];
    return [{ requirements: Object.fromEntries(entries) }];
  });
  if (wanted.length > 0 && options.length === 0) {
    throw new OpenApiFault(
      `${place}.security`,
      "must have an alternative with an API key or an Authorization header",
    );
  }
  return options;
}

function requirementOf(scheme: Json): Json | null {
  const name = textOf(scheme["name"]);
  switch (scheme["type"]) {
    case "apiKey":
      if (name === null) return null;
      if (scheme["in"] === "query") return { queryApiKey: { name } };
      return scheme["in"] === "header" ? { headerApiKey: { name } } : null;
    case "http":
      return { httpAuth: { scheme: spelled(textOf(scheme["scheme"]) ?? "Bearer") } };
    case "oauth2":
    case "openIdConnect":
      return { httpAuth: { scheme: "Bearer" } };
    default:
      return null;
  }
}

/** In the spelling that servers expect that compare it case-sensitively. */
function spelled(scheme: string): string {
  return scheme.slice(0, 1).toUpperCase() + scheme.slice(1);
}
