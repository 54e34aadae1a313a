/** The program of the reader's process: one document after the other. It has no environment and no network code. */

import { constants, setPriority } from "node:os";
import { UnreadableDocument, type DocumentToRead } from "../../../ports/corpora/document-reader.ts";
import { readDocument } from "../read-document.ts";
import type { FromReader, ToReader } from "./protocol.ts";

// A terminal sends its signals to the whole group; the service decides when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("disconnect", () => process.exit(0));
// Frames of calls must not wait for a document.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

function send(message: FromReader): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

/** The document that is being read; null: none, or it was answered already. */
let currentId: number | null = null;

async function answer({ id, document }: ToReader): Promise<void> {
  currentId = id;
  const message = await messageOf(id, document);
  if (currentId !== id) return;
  currentId = null;
  send(message);
}

async function messageOf(id: number, document: DocumentToRead): Promise<FromReader> {
  try {
    return { type: "read", id, document: await readDocument(document) };
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    return { type: "unreadable", id, code: error.code, message: error.message };
  }
}

/** Of a part of a library that runs beside the reading, such as the one of pdf.js that decodes streams. */
function giveUp(): void {
  const id = currentId;
  currentId = null;
  if (id === null) return;
  const message = "The file is damaged: a part of it cannot be decoded.";
  send({ type: "unreadable", id, code: "damaged", message });
}

process.on("uncaughtException", giveUp);
process.on("unhandledRejection", giveUp);
process.on("message", (message) => void answer(message as ToReader));
