/** The sources of passages in a tool's result. Pure. */

export interface PassageSource {
  /** Such as "House rules · Meals · page 2". */
  readonly text: string;
  /** An http address of the document; null: it has none. */
  readonly url: string | null;
  readonly score: number | null;
}

/** Sources that are shown of one result. */
const MAX_SOURCES = 20;

/** Of a result of `queryCorpus`; null: it is another result. */
export function passageSources(result: string): readonly PassageSource[] | null {
  const document = parsed(result);
  if (!isObject(document) || typeof document["notice"] !== "string") return null;
  const { passages } = document;
  if (!Array.isArray(passages)) return null;
  return passages.slice(0, MAX_SOURCES).flatMap((passage: unknown) => {
    if (!isObject(passage) || !isObject(passage["source"])) return [];
    const { title, url, heading, page, documentId } = passage["source"];
    const { score } = passage;
    const parts = [title ?? url ?? documentId, heading].filter((part) => typeof part === "string");
    if (typeof page === "number") parts.push(`page ${String(page)}`);
    return [
      {
        text: parts.join(" · "),
        url: typeof url === "string" && /^https?:\/\//.test(url) ? url : null,
        score: typeof score === "number" ? score : null,
      },
    ];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A result can be any text.
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
