/** The description of a screen, for navigation and routing. */

import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";
import type { RouteObject } from "react-router";
import type { Noun } from "./nouns.ts";

export const GROUPS = ["Build", "Conversations", "Connect", "Account"] as const;
export type Group = (typeof GROUPS)[number];

export interface Screen {
  /** The first part of its path. */
  readonly noun: Noun;
  readonly title: string;
  readonly icon: LucideIcon;
  readonly group: Group;
  /** Routes below `/{noun}`; each loads its code when it is first opened. */
  readonly routes: readonly RouteObject[];
}

/** A route whose component is loaded when it is first opened. */
export function page(path: string, load: () => Promise<ComponentType>): RouteObject {
  const lazy = async () => ({ Component: await load() });
  return path === "" ? { index: true, lazy } : { path, lazy };
}
