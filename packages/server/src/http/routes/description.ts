import { openApiDocument } from "@parley/schema";
import type { Handler } from "../endpoint.ts";
import { toYaml } from "../yaml.ts";

/** YAML when it is named as a type, and JSON is not named before it. */
const YAML_TYPE = /^(?!.*\bjson\b.*yaml).*\b(?:application|text)\/(?:[a-z.]+\+|x-)?yaml\b/i;

export const getDescriptionRoute: Handler<"getDescription"> = async ({ query, accept }, deps) => {
  const { version, settings } = deps.http;
  const document = openApiDocument({ baseUrl: deps.publicUrl(), version, names: settings.apiNames });
  const format = query.format ?? (YAML_TYPE.test(accept) ? "yaml" : "json");
  const headers = { vary: "Accept" };
  if (format === "json") return { status: 200, json: document, headers };
  return { status: 200, text: toYaml(document), headers: { ...headers, "content-type": "application/yaml" } };
};
