/** Requests of the `ai` SDK to model servers, with limits that the SDK does not have. */

/**
 * Bytes of one answer. A reply of 20,000 characters is about 5 MB as server-sent events of one token each, of which
 * most is repeated JSON.
 */
export const MAX_ANSWER_BYTES = 32 * 1_048_576;

/** The message is the end of a sentence. */
export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong";

  constructor() {
    super(`sent more than ${String(MAX_ANSWER_BYTES / 1_048_576)} MB`);
  }
}

/**
 * Follows no redirect: keys in headers of vendors, such as `x-api-key`, would go along to any address. An answer that
 * is too long breaks off.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_ANSWER_BYTES) controller.error(new AnswerTooLong());
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { status, statusText, headers });
};
