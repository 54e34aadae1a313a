import { openApiDocument, type aboutRoutes } from "@parley/schema";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer, pageOfList } from "../api/paging.ts";
import { toYaml } from "../pages/yaml.ts";

const listModelsRoute: Handler<"listModels"> = async ({ list }, { http }) => {
  const names = http.modelNames();
  const phrases = http.examplePhrases();
  const page = await pageAnswer(
    list,
    async (wanted) => pageOfList(names, (name) => name, wanted),
    (name) => ({ name, examplePhrases: phrases === null ? null : [...phrases] }),
  );
  return { status: 200, json: page };
};

const listNameAliasesRoute: Handler<"listNameAliases"> = (_, { http }) =>
  Promise.resolve({ status: 200, json: http.nameAliases() });

/** YAML when the client names it as a type and does not name JSON before it. */
const YAML_TYPE = /^(?!.*\bjson\b.*yaml).*\b(?:application|text)\/(?:[a-z.]+\+|x-)?yaml\b/i;

const getDescriptionRoute: Handler<"getDescription"> = async ({ query, accept }, deps) => {
  const { version, settings } = deps.http;
  const document = openApiDocument({ baseUrl: deps.publicUrl(), version, names: settings.apiNames });
  const format = query.format ?? (YAML_TYPE.test(accept) ? "yaml" : "json");
  const headers = { vary: "Accept" };
  if (format === "json") return { status: 200, json: document, headers };
  return { status: 200, text: toYaml(document), headers: { ...headers, "content-type": "application/yaml" } };
};

export const aboutHandlers: HandlersOf<typeof aboutRoutes> = {
  listModels: listModelsRoute,
  listNameAliases: listNameAliasesRoute,
  getDescription: getDescriptionRoute,
};
