/** What is stored but does nothing yet, by name. */

/** Built-in tools that need corpora or telephone calls. */
export const PREVIEW_TOOLS: readonly string[] = ["queryCorpus"];
