/** Parser of forms with one file (`multipart/form-data`), which reads part by part within limits. */

import { ApiError, type Route } from "@parley/schema";
import { isFormType, type RawForm } from "./endpoint.ts";
import { libraryFailure } from "./problems.ts";

/** Limit of the parts that are read: one file, and little else. */
const MAX_FORM_FIELDS = 10;
/** Bytes of each text beside the file. Longer ones are cut, and are then too long for every existing field. */
const MAX_FORM_TEXT_BYTES = 8192;

export interface FormLimits {
  readonly files: number;
  readonly fields: number;
  /** Bytes. */
  readonly fileSize: number;
  /** Bytes. */
  readonly fieldSize: number;
}

/** One part of a form, as the HTTP library reads it. */
export type FormPart =
  | { readonly type: "file"; readonly fieldname: string; readonly toBuffer: () => Promise<Uint8Array> }
  | { readonly type: "field"; readonly fieldname: string; readonly value: unknown };

/**
 * The file of a form and the texts beside it; null where none is taken or the body is not a form.
 * @throws ApiError when the body is not a valid form, or is over a limit
 */
export async function readForm(
  { upload }: Route,
  contentType: string | undefined,
  partsOf: (limits: FormLimits) => AsyncIterable<FormPart>,
): Promise<RawForm | null> {
  if (upload === null || !isFormType(contentType)) return null;
  const limits = {
    files: 1,
    fields: MAX_FORM_FIELDS,
    fileSize: upload.maxBytes,
    fieldSize: MAX_FORM_TEXT_BYTES,
  };
  let file: Uint8Array | null = null;
  const texts = new Map<string, string[]>();
  try {
    for await (const part of partsOf(limits)) {
      if (part.type === "file") {
        const bytes = await part.toBuffer();
        if (part.fieldname === upload.field) file = bytes;
      } else if (typeof part.value === "string") {
        texts.set(part.fieldname, [...(texts.get(part.fieldname) ?? []), part.value]);
      }
    }
  } catch (cause) {
    // The form parser names its limits by a code, and gives no code to a body that is not a form.
    const known = libraryFailure((cause as { readonly code?: string }).code);
    throw known ?? new ApiError("validation_failed", "The body is not a valid form.", { cause });
  }
  const entries = [...texts].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return { file, texts: Object.fromEntries(entries) as RawForm["texts"] };
}
