/** Routes that describe the service itself. */

import { ModelAlias } from "../names/model-alias.ts";
import { NameAliases } from "../names/name-aliases.ts";
import { FreeObject } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { DescriptionQuery, PageQuery } from "./queries.ts";
import { json, plain, type Route } from "./route.ts";

export const ModelAliasPage = pageOf(ModelAlias);

export const aboutRoutes = {
  listModels: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/models",
    tag: "service",
    summary: "List the models",
    query: PageQuery,
    responses: { 200: json(ModelAliasPage, "A page of model names.") },
  },
  listNameAliases: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/name_aliases",
    tag: "service",
    summary: "List the further names of voices and models",
    responses: { 200: json(NameAliases, "The names, in the order of the settings.") },
  },
  getDescription: {
    ...plain,
    method: "GET",
    scope: null,
    path: "/api/schema/",
    tag: "service",
    summary: "Get this OpenAPI document",
    authenticated: false,
    query: DescriptionQuery,
    responses: { 200: json(FreeObject, "An OpenAPI 3.1 document.") },
  },
} as const satisfies Record<string, Route>;
