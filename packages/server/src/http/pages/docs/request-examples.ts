/** The request of an operation in several languages. Each works once the key and the ids are in the environment. */

import { bodyOf, type CardOptions, type Entry } from "./entries.ts";
import { literal, PYTHON, TYPESCRIPT } from "./literals.ts";
import type { OpenApiDocument } from "./open-api.ts";
import { exampleOf } from "./schema-view.ts";

export interface Example {
  /** Names the choice in the browser of the reader. */
  readonly language: "curl" | "typescript" | "python";
  readonly title: string;
  readonly text: string;
}

/** Waits for calls to be created; most requests take milliseconds. */
const PYTHON_TIMEOUT_SECONDS = 30;

interface Request {
  readonly entry: Entry;
  readonly baseUrl: string;
  readonly needsKey: boolean;
  readonly body: { readonly type: string; readonly value: unknown } | null;
  readonly answer: "json" | "text" | "file" | "nothing";
  /** The response may be somewhere else. */
  readonly moves: boolean;
}

function requestOf(entry: Entry, document: OpenApiDocument, { baseUrl, examples }: CardOptions): Request {
  const { operation, id } = entry;
  const body = bodyOf(entry, document);
  const schemas = document.components?.schemas ?? {};
  return {
    entry,
    baseUrl,
    needsKey: (operation.security ?? document.security ?? []).some((one) => Object.keys(one).length > 0),
    body: body === null ? null : { type: body.type, value: examples[id] ?? exampleOf(body.schema, schemas) },
    answer: answerOf(entry),
    moves: operation.responses?.["302"] !== undefined,
  };
}

function answerOf({ operation }: Entry): Request["answer"] {
  const answers = Object.entries(operation.responses ?? {}).filter(([status]) => status < "400");
  const types = new Set(answers.flatMap(([, { content }]) => Object.keys(content ?? {})));
  if (types.has("application/json")) return "json";
  if (types.has("audio/wav")) return "file";
  return types.size > 0 || operation.responses?.["302"] !== undefined ? "text" : "nothing";
}

const PARAMETER = /\{([a-z_]+)\}/gi;

function parametersOf({ path }: Entry): string[] {
  return [...path.matchAll(PARAMETER)].map(([, name = ""]) => name);
}

/** A parameter from the environment, whose values are texts. */
function parameterOf({ operation }: Entry, name: string): string {
  const type = operation.parameters?.find((one) => one.in === "path" && one.name === name)?.schema?.type;
  const value = `process.env.${name.toUpperCase()}!`;
  return `${name}: ${type === "integer" ? `Number(${value})` : value}`;
}

function curl({ entry, baseUrl, needsKey, body, answer, moves }: Request): string {
  const { method } = entry;
  const path = entry.path.replaceAll(PARAMETER, (_, name: string) => `$${name.toUpperCase()}`);
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl}${path}"`];
  if (needsKey) lines.push('-H "X-API-Key: $API_KEY"');
  if (body !== null) {
    const text = JSON.stringify(body.value, null, 2).replaceAll("'", String.raw`'\''`);
    lines.push(`-H "Content-Type: ${body.type}"`, `-d '${text}'`);
  }
  if (moves) lines.push("--location");
  // With --fail, a problem's body is not saved as a recording.
  if (answer === "file") lines.push("--fail -o recording.wav");
  return lines.join(" \\\n  ");
}

/** What is done with the answer, and the name of its variable. */
const TYPESCRIPT_ANSWER: Readonly<Record<Request["answer"], readonly [variable: string, use: string]>> = {
  json: ["answer", "\nconsole.log(answer);"],
  text: ["response", "\nconsole.log(await response.text());"],
  file: ["response", '\nawait writeFile("recording.wav", Buffer.from(await response.arrayBuffer()));'],
  nothing: ["", ""],
};

function typescript({ entry, baseUrl, body, answer }: Request): string {
  const method = entry.method.toUpperCase();
  const [variable, use] = TYPESCRIPT_ANSWER[answer];
  const names = parametersOf(entry);
  const input = [
    ...(names.length === 0
      ? []
      : [`params: { ${names.map((name) => parameterOf(entry, name)).join(", ")} },`]),
    ...(body === null ? [] : [`body: ${literal(body.value, TYPESCRIPT, "  ")},`]),
  ];
  const given = input.length === 0 ? "" : `, {\n${input.map((line) => `  ${line}\n`).join("")}}`;
  return [
    ...(answer === "file" ? ['import { writeFile } from "node:fs/promises";'] : []),
    'import { createRestClient } from "@parley/client/rest";',
    "",
    `const parley = createRestClient({ baseUrl: "${baseUrl}", apiKey: process.env.API_KEY! });`,
    `${variable === "" ? "" : `const ${variable} = `}await parley.fetch("${method}", "${entry.path}"${given});${use}`,
  ].join("\n");
}

const PYTHON_ANSWER: Readonly<Record<Request["answer"], readonly string[]>> = {
  json: ["print(response.json())"],
  text: ["print(response.text)"],
  file: ['with open("recording.wav", "wb") as file:', "    file.write(response.content)"],
  nothing: [],
};

function python({ entry, baseUrl, needsKey, body, answer }: Request): string {
  const hasParameters = parametersOf(entry).length > 0;
  const path = entry.path.replaceAll(PARAMETER, (_, name: string) => `{os.environ['${name.toUpperCase()}']}`);
  return [
    ...(hasParameters || needsKey ? ["import os", ""] : []),
    "import requests",
    "",
    `response = requests.${entry.method}(`,
    `    ${hasParameters ? "f" : ""}"${baseUrl}${path}",`,
    ...(needsKey ? ['    headers={"X-API-Key": os.environ["API_KEY"]},'] : []),
    ...(body === null ? [] : [`    json=${literal(body.value, PYTHON, "    ")},`]),
    `    timeout=${PYTHON_TIMEOUT_SECONDS},`,
    ")",
    "response.raise_for_status()",
    ...PYTHON_ANSWER[answer],
  ].join("\n");
}

export function curlExample(entry: Entry, document: OpenApiDocument, options: CardOptions): string {
  return curl(requestOf(entry, document, options));
}

export function requestExamples(entry: Entry, document: OpenApiDocument, options: CardOptions): Example[] {
  const request = requestOf(entry, document, options);
  return [
    { language: "curl", title: "curl", text: curl(request) },
    { language: "typescript", title: "TypeScript", text: typescript(request) },
    { language: "python", title: "Python", text: python(request) },
  ];
}
