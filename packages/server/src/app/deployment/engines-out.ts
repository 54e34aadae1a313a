/** What `/readyz` says about lists of engines. */

import { ENGINE_KINDS } from "@parley/schema";
import type { LiveEngines } from "./live-engines.ts";
import { ENGINE_NAMES } from "../engine-probe.ts";

/** The engines that are out, in sentences without what their servers said. */
export function enginesOut({ lists }: Pick<LiveEngines, "lists">): string[] {
  const reports = lists.reports();
  return ENGINE_KINDS.flatMap((kind) => {
    const works = reports[kind].find(({ isOut }) => !isOut)?.name;
    const then = works === undefined ? "no other one works" : `${works} is used`;
    return reports[kind].flatMap(({ name, isOut }) =>
      isOut ? [`${ENGINE_NAMES[kind]}: ${name} does not work, ${then}`] : [],
    );
  });
}
