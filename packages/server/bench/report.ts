/** Percentiles, the machine's description, and the page with the figures. */

import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const PAGE = fileURLToPath(new URL("../../../docs/benchmarks.md", import.meta.url));

/** @param share 0..1; nearest rank. NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export function milliseconds(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(value < 10 ? 1 : 0);
}

/** Slope of a straight line through equally spaced values, per step. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let above = 0;
  let below = 0;
  for (const [index, value] of values.entries()) {
    above += (index - middle) * (value - mean);
    below += (index - middle) ** 2;
  }
  return above / below;
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${String(availableParallelism())} cores of ${model}, ${String(gigabytes)} GiB, ${process.platform}, Node ${process.version}`;
}

/** Prints the figures and replaces the section of that name in docs/benchmarks.md. */
export async function publish(name: string, markdown: string): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const section = `<!-- ${name} -->\n\nMeasured on ${date}: ${machine()}.\n\n${markdown.trim()}\n\n<!-- /${name} -->`;
  console.log(`\n${section}\n`);
  const page = await readFile(PAGE, "utf8");
  const place = new RegExp(`<!-- ${name} -->[^]*<!-- /${name} -->`);
  if (!place.test(page)) throw new Error(`docs/benchmarks.md has no section <!-- ${name} -->.`);
  const text = page.replace(place, () => section);
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
}
