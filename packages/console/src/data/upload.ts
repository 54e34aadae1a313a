/** Requests whose bodies take a while to send. `fetch` does not say how far it is. */

export interface Upload {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  /** Bytes that have left the browser. */
  readonly onSent: (bytes: number) => void;
}

/**
 * The answer as it comes, whatever its status.
 * @throws as `fetch` does: a TypeError when nothing answered, the signal's reason when it was given up
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
    request.addEventListener("error", () => reject(new TypeError("Nothing answered.")));
    request.addEventListener("load", () =>
      resolve(new Response(request.responseText, { status: request.status })),
    );
    request.addEventListener("loadend", () => signal.removeEventListener("abort", abort));
    request.send(body);
  });
}
