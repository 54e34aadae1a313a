/**
 * The questions of `npm run bench:retrieval` and the documents that answer them: the pages of this repository and those
 * of pino and fastify, which are installed and under the MIT licence. Each line of `questions.tsv` has a document, the
 * heading of the section that answers, a question in the words of the section, and one in other words.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FOLDERS = ["docs", "pino/docs", "fastify/docs/Reference"];
/** Of one chunk: about 300 tokens. */
const CHUNK_CHARS = 1_200;

export interface Question {
  readonly text: string;
  readonly isParaphrase: boolean;
  /** For fitting weights; the other half is for the published figures. */
  readonly isDevelopment: boolean;
  /** Document and heading. */
  readonly answer: string;
}

export interface Chunk {
  readonly text: string;
  readonly headingPath: readonly string[];
  /** Document and heading. */
  readonly section: string;
}

export function readQuestions(): readonly Question[] {
  const lines = readFileSync(new URL("questions.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    const [document = "", heading = "", literal = "", paraphrase = ""] = line.split("\t");
    const answer = `${document} ${heading}`;
    const isDevelopment = isInDevelopment(answer);
    return [
      { text: literal, isParaphrase: false, isDevelopment, answer },
      { text: paraphrase, isParaphrase: true, isDevelopment, answer },
    ];
  });
}

/**
 * By a hash of the answer, so that no one chooses: all questions about a section are in the same half, and a question
 * that is added later moves no other.
 */
function isInDevelopment(answer: string): boolean {
  return (createHash("sha256").update(answer).digest()[0] ?? 0) % 2 === 0;
}

/** All documents, cut at headings and then at paragraphs. */
export function readChunks(): ReadonlyMap<string, readonly Chunk[]> {
  const documents = new Map<string, readonly Chunk[]>();
  for (const folder of FOLDERS) {
    const path = folder === "docs" ? folder : `node_modules/${folder}`;
    for (const file of readdirSync(`${ROOT}${path}`).filter((name) => name.endsWith(".md"))) {
      const document = `${folder}/${file}`;
      documents.set(document, chunksOf(document, readFileSync(`${ROOT}${path}/${file}`, "utf8")));
    }
  }
  return documents;
}

function chunksOf(document: string, markdown: string): readonly Chunk[] {
  const path: string[] = [];
  const chunks: Chunk[] = [];
  for (const part of markdown.split(/\n(?=#{1,6} )/)) {
    const heading = /^(#{1,6}) (.*)/.exec(part);
    if (heading !== null) path.splice((heading[1]?.length ?? 1) - 1, path.length, plain(heading[2] ?? ""));
    const body = (heading === null ? part : part.slice(heading[0].length)).replaceAll(/-{4,}/g, "---").trim();
    const headingPath = path.filter((name) => name !== undefined);
    for (const text of pieces(body))
      chunks.push({ text, headingPath, section: `${document} ${headingPath.at(-1) ?? ""}` });
  }
  return chunks;
}

function plain(heading: string): string {
  return heading
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/[`*]/g, "")
    .trim();
}

function pieces(body: string): string[] {
  const found: string[] = [];
  for (const paragraph of body.split(/\n{2,}/)) {
    const last = found.at(-1);
    if (last !== undefined && last.length + paragraph.length < CHUNK_CHARS)
      found[found.length - 1] = `${last}\n\n${paragraph}`;
    else if (paragraph.trim() !== "") found.push(paragraph);
  }
  return found;
}
