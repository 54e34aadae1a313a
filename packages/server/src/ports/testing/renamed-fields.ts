/** Copies of a document with one field under another name, to show that a contract notices each change. */

export interface RenamedField {
  /** Such as `messages.0.role`. */
  readonly path: string;
  readonly document: unknown;
}

/**
 * One copy for each field at any depth.
 * @param open names of fields whose content is not the vendor's, such as the schema of a tool
 */
export function renamedFields(document: unknown, open: ReadonlySet<string>): readonly RenamedField[] {
  if (Array.isArray(document))
    return document.flatMap((item: unknown, index) =>
      renamedFields(item, open).map(({ path, document: changed }) => ({
        path: `${index}.${path}`,
        document: document.with(index, changed),
      })),
    );
  if (typeof document !== "object" || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) => {
    const { [name]: _removed, ...others } = document as Record<string, unknown>;
    const renamed = { path: name, document: { ...others, [`${name}_changed`]: value } };
    const inner = open.has(name) ? [] : renamedFields(value, open);
    return [
      renamed,
      ...inner.map(({ path, document: changed }) => ({
        path: `${name}.${path}`,
        document: { ...document, [name]: changed },
      })),
    ];
  });
}
