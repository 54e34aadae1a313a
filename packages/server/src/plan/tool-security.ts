/** Which of a tool's security options a selection meets, and what is sent for it (D142). */

import type { BaseToolDefinition, SelectedTool } from "@parley/schema";
import type { ToolCredential } from "./tool-plan.ts";

export interface ToolSecurity {
  readonly credentials: readonly ToolCredential[];
  /** What the call token is required for; null: it is not required. */
  readonly tokenScopes: readonly string[] | null;
}

type Options = NonNullable<
  NonNullable<NonNullable<BaseToolDefinition["requirements"]>["httpSecurityOptions"]>["options"]
>;
type Option = Options[number];
type Requirement = NonNullable<Option["requirements"]>[string];

/** What a header cannot carry: control characters, and what is no single byte. */
const NOT_IN_A_HEADER = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** `field` of a problem is below the selection. */
export function securityOf(
  definition: BaseToolDefinition,
  selection: SelectedTool,
): ToolSecurity | { readonly problem: { readonly field: string; readonly message: string } } {
  const options = definition.requirements?.httpSecurityOptions?.options ?? [];
  const tokens = selection.authTokens ?? {};
  if (options.length === 0) return { credentials: [], tokenScopes: null };
  const met = options.filter((option) =>
    Object.keys(option.requirements ?? {}).every((name) => Object.hasOwn(tokens, name)),
  );
  const chosen = met.find((option) => !isEmpty(option)) ?? met[0];
  if (chosen === undefined) {
    return { problem: { field: "authTokens", message: "must meet one of the tool's httpSecurityOptions" } };
  }
  const credentials: ToolCredential[] = [];
  for (const [name, requirement] of Object.entries(chosen.requirements ?? {})) {
    const credential = credentialOf(requirement, tokens[name] ?? "");
    if (credential.place === "header" && NOT_IN_A_HEADER.test(credential.value)) {
      const message = "must contain only characters that a header can carry: Latin-1 without line breaks";
      return { problem: { field: `authTokens.${name}`, message } };
    }
    credentials.push(credential);
  }
  const token = chosen.serviceCallTokenRequirement;
  return { credentials, tokenScopes: token === undefined ? null : (token.scopes ?? []) };
}

function isEmpty(option: Option): boolean {
  return (
    Object.keys(option.requirements ?? {}).length === 0 && option.serviceCallTokenRequirement === undefined
  );
}

function credentialOf(requirement: Requirement, token: string): ToolCredential {
  const { queryApiKey, headerApiKey, httpAuth } = requirement;
  if (queryApiKey !== undefined) return { place: "query", name: queryApiKey.name, value: token };
  if (headerApiKey !== undefined) return { place: "header", name: headerApiKey.name, value: token };
  return { place: "header", name: "Authorization", value: `${httpAuth?.scheme ?? ""} ${token}` };
}
