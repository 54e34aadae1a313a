/** Joins the metrics of several processes. Pure. */

interface Family {
  /** Its lines HELP and TYPE, which come before its samples, and only once. */
  readonly head: string[];
  readonly samples: string[];
}

const HELP = /^# HELP (\S+)/;

/**
 * Each text is what `/metrics` of one process would print. Their samples must differ in a label, which tells the
 * processes apart. Sums would fall when one process is started again, which Prometheus takes for a restart of all.
 */
export function mergedMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let family: Family | null = null;
    let isNew = false;
    for (const line of text.split("\n")) {
      const [, name] = HELP.exec(line) ?? [];
      if (name !== undefined) {
        const known = families.get(name);
        isNew = known === undefined;
        family = known ?? { head: [line], samples: [] };
        families.set(name, family);
      } else if (line.startsWith("#")) {
        if (isNew) family?.head.push(line);
      } else if (line !== "") {
        family?.samples.push(line);
      }
    }
  }
  return [...families.values()]
    .map(({ head, samples }) => `${[...head, ...samples].join("\n")}\n`)
    .join("\n");
}
