/** Operations as TypeScript: what a request takes, what it answers, and both by method and path. */

import { comment, textOf } from "./comments.ts";
import { componentOf, type JsonSchema } from "@parley/schema/openapi/described-schema";
import type { OpenApiDocument, Operation } from "./json-schema.ts";
import { declaration, fieldsText, typeText, type Used } from "./type-text.ts";

export interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Names for what the document writes in place. Others are named after their operation. */
const IN_PLACE: Readonly<Record<string, string>> = {
  "createCorpusUpload body": "CorpusUploadRequest",
  "createCorpusUpload output": "CorpusUpload",
  "createSipRegistration body": "SipRegistrationWrite",
  "createSipRegistration output": "SipRegistration",
  "getAccountTelephonyConfig output": "AccountTelephonyConfig",
  "getSipConfig output": "SipConfig",
  "getTelephonyConfig output": "TelephonyConfig",
  "createTelephonyConfig body": "TelephonyConfigWrite",
  "assignPhoneNumber body": "PhoneNumberWrite",
  "assignPhoneNumber output": "PhoneNumber",
  "checkTelephonyConfig output": "TelephonyCheck",
  "checkSip body": "SipCheckRequest",
  "checkSip output": "SipCheck",
  "checkSipRegistration output": "SipCheck",
  "listCallSipMessages output": "SipMessagePage",
  "listCallSipMessages row": "SipMessage",
  "getCallDial output": "CallDial",
  "getDiallingRules output": "DiallingRules",
  "getDiallingUse output": "DiallingUse",
  "getTelephonyUrls output": "TelephonyUrls",
  "listPhoneNumbers output": "PhoneNumberPage",
  "listPhoneNumbers row": "PhoneNumber",
  "updateDiallingRules body": "DiallingRulesPatch",
  "listAuditLog output": "AuditEntryPage",
  "listAuditLog row": "AuditEntry",
  "listSipRegistrations output": "SipRegistrationPage",
  "listSipRegistrations row": "SipRegistration",
  "queryCorpus body": "CorpusQuery",
  "queryCorpus row": "CorpusQueryResult",
  "updateAccountTelephonyConfig body": "AccountTelephonyConfigPatch",
  "updateSipConfig body": "SipConfigPatch",
  "getSipRules output": "SipRules",
  "updateSipRules body": "SipRulesPatch",
  "updateSipRegistration body": "SipRegistrationPatch",
  "updateTelephonyConfig body": "TelephonyConfigPatch",
};

/** The declarations of one tag. */
export interface OperationTexts {
  /** Schemas that the document writes in place, by their names. */
  readonly records: ReadonlyMap<string, string>;
  readonly usedByRecords: Used;
  readonly operations: string;
  readonly usedByOperations: Used;
}

type Role = "body" | "output" | "row";

/** Writes the operations of one tag. */
export class OperationWriter {
  readonly #document: OpenApiDocument;
  /** Names of schemas written in place, by their content, for all tags. */
  readonly #named: Map<string, string>;
  readonly #records = new Map<string, string>();
  readonly #usedByRecords: Used = new Set();
  readonly #used: Used = new Set();

  constructor(document: OpenApiDocument, named: Map<string, string>) {
    this.#document = document;
    this.#named = named;
  }

  write(entries: readonly Entry[], mapName: string): OperationTexts {
    const inputs = entries.map((entry) => this.#input(entry));
    const lines = entries.map((entry) => this.#line(entry));
    return {
      records: this.#records,
      usedByRecords: this.#usedByRecords,
      operations: `${inputs.join("\n")}\nexport interface ${mapName} {\n${lines.join("")}}\n`,
      usedByOperations: this.#used,
    };
  }

  /** The type of a schema of an operation; a large one that is written in place gets a name. */
  #type(schema: JsonSchema, operationId: string, role: Role): string {
    const { items } = schema;
    const own = componentOf(schema);
    if (own === null && schema.type === "array" && items !== undefined)
      return `${this.#type(items, operationId, "row")}[]`;
    const text = typeText(schema, "", new Set());
    if (own !== null || !text.includes("{")) return typeText(schema, "", this.#used);
    return this.#nameOf(schema, operationId, role, this.#used);
  }

  #nameOf(schema: JsonSchema, operationId: string, role: Role, used: Used): string {
    const content = JSON.stringify({ ...schema, description: undefined, examples: undefined });
    const before = this.#named.get(content);
    const name = before ?? IN_PLACE[`${operationId} ${role}`] ?? capital(operationId) + capital(role);
    used.add(name);
    if (before !== undefined) return name;
    this.#named.set(content, name);
    const row = rowOf(schema);
    if (row === null || componentOf(row) !== null) {
      this.#records.set(name, declaration(name, schema, this.#usedByRecords));
      return name;
    }
    const rowName = this.#nameOf(row, operationId, "row", this.#usedByRecords);
    const results = { ...schema.properties?.["results"], items: { $ref: `#/components/schemas/${rowName}` } };
    const page = { ...schema, properties: { ...schema.properties, results } };
    this.#records.set(name, declaration(name, page, this.#usedByRecords));
    return name;
  }

  #input({ method, path, operation }: Entry): string {
    const { operationId, summary, "x-required-scope": scope } = operation;
    const members: string[] = [];
    for (const [member, place] of [
      ["params", "path"],
      ["query", "query"],
    ] as const) {
      const parameters = operation.parameters.filter((one) => one.in === place);
      const fields = parameters.map(({ name, description, schema, required = false }) => ({
        name,
        required,
        schema: { ...schema, ...(description === undefined ? {} : { description }) },
      }));
      if (fields.length === 0) continue;
      const needed = fields.some(({ required }) => required);
      members.push(memberText(member, fieldsText(fields, "  ", this.#used), needed));
    }
    members.push(...this.#bodyMembers(operation));
    const needs = scope === undefined ? "Needs no API key." : `Needs the scope \`${scope}\`.`;
    const about = comment([`${summary}: \`${method} ${path}\`. ${needs}`], "");
    const name = `${capital(operationId)}Input`;
    return members.length === 0
      ? `${about}export type ${name} = RequestOptions;\n`
      : `${about}export interface ${name} extends RequestOptions {\n${members.join("")}}\n`;
  }

  #bodyMembers({ operationId, requestBody }: Operation): string[] {
    const { "application/json": json, "multipart/form-data": form } = requestBody?.content ?? {};
    const schema = json?.schema;
    if (requestBody === undefined || schema === undefined) return [];
    const about = comment(
      componentOf(schema) === null ? textOf({ description: schema.description ?? "" }) : [],
      "  ",
    );
    const body = memberText("body", this.#type(schema, operationId, "body"), requestBody.required && !form);
    if (form === undefined) return [about + body];
    const fields = Object.keys(form.schema?.properties ?? {}).map((name) => `\`${name}\``);
    const formText = comment([`Instead of a body: a form with ${fields.join(" and ")}.`], "  ");
    return [about + body, formText + memberText("form", "FormData", false)];
  }

  #line({ method, path, operation }: Entry): string {
    const { operationId, summary } = operation;
    const outputs = this.#outputs(operation);
    const row = outputs.flatMap(({ row }) => row ?? []);
    const output = [...new Set(outputs.map(({ type }) => type))].join(" | ");
    const members = [
      `input: ${capital(operationId)}Input`,
      `output: ${output}`,
      ...row.map((type) => `row: ${type}`),
    ];
    return `${comment([`${summary}.`], "  ")}  "${method} ${path}": { ${members.join("; ")} };\n`;
  }

  /** JSON as its type, nothing as undefined, and anything else as a response. A redirect is followed. */
  #outputs({ operationId, responses }: Operation): { readonly type: string; readonly row: string | null }[] {
    const answers = Object.entries(responses).filter(([status]) => status < "400");
    return answers.map(([status, { content }]) => {
      const schema = content?.["application/json"]?.schema;
      if (schema === undefined)
        return { type: content === undefined && status !== "302" ? "undefined" : "Response", row: null };
      const type = this.#type(schema, operationId, "output");
      const name = componentOf(schema);
      const row = rowOf(name === null ? schema : (this.#document.components.schemas[name] ?? {}));
      return { type, row: row === null ? null : this.#type(row, operationId, "row") };
    });
  }
}

/** The schema of one result, where the schema is a page of a list. */
function rowOf({ properties }: JsonSchema): JsonSchema | null {
  return properties?.["next"] === undefined ? null : (properties["results"]?.items ?? null);
}

function memberText(name: string, type: string, required: boolean): string {
  return `  readonly ${name}${required ? "" : "?"}: ${type}${required ? "" : " | undefined"};\n`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
