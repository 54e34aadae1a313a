/** Addresses that accept the file of a document: whoever has one may upload, without a key, for five minutes. */

import { createHash } from "node:crypto";
import { ApiError, MAX_DOCUMENT_BYTES, mediaTypeOf } from "@parley/schema";
import { CorpusLimitError } from "../../store/database/store-errors.ts";
import {
  beginUpload,
  createUpload,
  findUpload,
  finishUpload,
  hasDocument,
  type ExpectedUpload,
} from "../../store/corpora/uploads.ts";
import type { Handler, HandlerDeps } from "../api/endpoint.ts";
import type { PlainRoute } from "../pages/plain-routes.ts";
import { notFound } from "../routes/shared.ts";
import { uploadTokens } from "./upload-token.ts";

/** Of one upload; a store that is slower counts as unreachable. */
const WRITE_LIMIT_MS = 60_000;

export const createCorpusUploadRoute: Handler<"createCorpusUpload"> = async (
  { accountId, params, body, change },
  deps,
) => {
  const token = uploadTokens(deps.http.secretsKey).make();
  const { fileName = "" } = body;
  const upload = {
    mimeType: mediaTypeOf(body.mimeType),
    fileName: fileName === "" ? null : fileName,
    tokenHash: hashOf(token),
  };
  const { limits } = deps.http.corpora;
  const made = await withinLimits(
    deps,
    change((tx) => createUpload(tx, accountId, params.corpus_id, upload, limits)),
  );
  if (made === null) throw notFound("corpus");
  const presignedUrl = `${deps.publicUrl()}/corpus_uploads/${token}`;
  return { status: 201, json: { documentId: made.documentId, presignedUrl } };
};

/** The route is found by the secret part of the address. The secret is never logged: see `loggedPath`. */
export function corpusUploadRoutes(deps: HandlerDeps): PlainRoute[] {
  const { http } = deps;
  const { db } = http.store;
  return [
    {
      method: "PUT",
      path: "/corpus_uploads/{token}",
      maxBytes: MAX_DOCUMENT_BYTES,
      frequent: false,
      // Before the body is read: nobody without an address can make the server read ten megabytes.
      async admit({ params, headers }) {
        checkType(await expectedUpload(deps, params["token"]), headers["content-type"]);
      },
      async answer({ params, headers, body }) {
        const upload = await expectedUpload(deps, params["token"]);
        checkType(upload, headers["content-type"]);
        if (body === null || body.byteLength === 0)
          throw new ApiError("validation_failed", "The file is empty.");
        const sizeBytes = body.byteLength;
        const { limits, filePlace: place, files } = http.corpora;
        if (!(await withinLimits(deps, beginUpload(db, upload, { sizeBytes, place }, limits)))) throw taken();
        await files.write(upload.documentId, body, AbortSignal.timeout(WRITE_LIMIT_MS));
        const contentHash = createHash("sha256").update(body).digest("hex");
        if (!(await finishUpload(db, upload, { sizeBytes, contentHash }))) {
          await removeUnowned(deps, upload);
          throw taken();
        }
        return { status: 200, headers: {}, body: null };
      },
    },
  ];
}

/** The document was deleted while its file was written, perhaps after its files were removed. */
async function removeUnowned({ http }: HandlerDeps, { documentId }: ExpectedUpload): Promise<void> {
  if (await hasDocument(http.store.db, documentId)) return;
  await http.corpora.files.remove(documentId, AbortSignal.timeout(WRITE_LIMIT_MS));
}

/** @throws ApiError where the address is not, or no longer, valid */
async function expectedUpload({ http }: HandlerDeps, token = ""): Promise<ExpectedUpload> {
  const isGenuine = uploadTokens(http.secretsKey).isGenuine(token);
  const upload = isGenuine ? await findUpload(http.store.db, hashOf(token)) : null;
  if (upload === null) throw notFound("upload address");
  if (upload.isTaken) throw taken();
  if (upload.isExpired) throw new ApiError("gone", "The upload address has expired; request a new one.");
  return upload;
}

function checkType({ mimeType }: ExpectedUpload, given: string | undefined): void {
  if (mediaTypeOf(given ?? "") === mimeType) return;
  throw new ApiError("unsupported_media_type", `The Content-Type must be ${mimeType}, as it was announced.`);
}

function taken(): ApiError {
  return new ApiError("conflict", "The document belongs to a source already, or was deleted.");
}

async function withinLimits<Result>({ http }: HandlerDeps, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CorpusLimitError)) throw error;
    const { documentsPerAccount, bytesPerAccount } = http.corpora.limits;
    const most =
      error.limit === "documents"
        ? `${String(documentsPerAccount)} documents`
        : `${String(bytesPerAccount)} bytes of documents`;
    throw new ApiError("conflict", `An account stores at most ${most} in its corpora. Delete sources first.`);
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
