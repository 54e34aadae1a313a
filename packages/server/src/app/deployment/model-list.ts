/** Answers to `GET {base}/models` of servers that speak the OpenAI protocol. */

/** The names in the list. Only plain ones: they are written to the log. Null: not a list of models. */
export function modelsIn(text: string): readonly string[] | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const data = typeof body === "object" && body !== null ? Reflect.get(body, "data") : undefined;
  if (!Array.isArray(data)) return null;
  return data.flatMap((entry: unknown) => {
    const id: unknown = typeof entry === "object" && entry !== null ? Reflect.get(entry, "id") : undefined;
    return typeof id === "string" && /^[\w./:@-]{1,100}$/.test(id) ? [id] : [];
  });
}

/** Ollama lists `llama3` as `llama3:latest`. */
export function isSameModel(known: string, model: string): boolean {
  return known === model || known === `${model}:latest`;
}
