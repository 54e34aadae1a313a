/** Uploads with progress, which `fetch` does not report. */

export interface Upload {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  /** Bytes sent so far. */
  readonly onSent: (bytes: number) => void;
}

/**
 * The response, with any status.
 * @throws as `fetch` does: a TypeError without a response, the signal's reason after an abort
 */
export function upload(url: string, { headers, body, signal, onSent }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const abort = () => request.abort();
    signal.addEventListener("abort", abort);
    request.upload.addEventListener("progress", ({ loaded }) => onSent(loaded));
    request.addEventListener("abort", () => reject(signal.reason as Error));
    request.addEventListener("error", () => reject(new TypeError("The service did not respond.")));
    request.addEventListener("load", () =>
      resolve(new Response(request.responseText, { status: request.status })),
    );
    request.addEventListener("loadend", () => signal.removeEventListener("abort", abort));
    request.send(body);
  });
}
