/** Uploads the files that a person has chosen. */

import type { RestClient } from "@parley/client/rest";

/** By the ending of the name: browsers do not know the types of all of them. */
const TYPES: Readonly<Record<string, string>> = {
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  txt: "text/plain",
  md: "text/markdown",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  pdf: "application/pdf",
  epub: "application/epub+zip",
  html: "text/html",
  htm: "text/html",
  csv: "text/csv",
};

export const ACCEPT = Object.keys(TYPES)
  .map((ending) => `.${ending}`)
  .join(",");

const MAX_BYTES = 10 * 1024 * 1024;

/** Null: the file can be uploaded. */
export function fileFault({ name, size }: Pick<File, "name" | "size">): string | null {
  if (mimeTypeOf(name) === null) return `${name} is not of a type that can be read.`;
  if (size === 0) return `${name} is empty.`;
  return size > MAX_BYTES ? `${name} has more than 10 MiB.` : null;
}

export function mimeTypeOf(name: string): string | null {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TYPES, ending) ? (TYPES[ending] ?? null) : null;
}

/** Returns the id of the document. @throws an error with a sentence */
export async function uploadFile(api: RestClient, corpusId: string, file: File): Promise<string> {
  const fault = fileFault(file);
  const mimeType = mimeTypeOf(file.name);
  if (fault !== null || mimeType === null) throw new Error(fault ?? "The file cannot be read.");
  const { documentId, presignedUrl } = await api.fetch("POST", "/api/corpora/{corpus_id}/uploads", {
    params: { corpus_id: corpusId },
    body: { mimeType, fileName: file.name.slice(-255) },
  });
  // The page may be reached by another name than the public one; its own origin is the one that it may request.
  const answer = await fetch(new URL(new URL(presignedUrl).pathname, window.location.href), {
    method: "PUT",
    headers: { "Content-Type": mimeType },
    body: file,
  });
  if (answer.ok) return documentId;
  const problem = (await answer.json().catch(() => null)) as { readonly detail?: string } | null;
  const why = problem?.detail ?? `HTTP ${String(answer.status)}`;
  throw new Error(`${file.name}: ${why}`);
}
