/** Further names of the deployment's voices and models, for clients that were written for another service. */

/** One pair of a setting, such as `Mark=espeak-m1`. */
export interface NameAlias {
  /** What a request may give; `*`: every name that is unknown otherwise. */
  readonly name: string;
  /** A name of the deployment, or `default`. */
  readonly target: string;
}

/** Stands for every name that is unknown otherwise. */
export const ANY_NAME = "*";
/** The target that stands for what a request gets that gives no name. */
export const DEFAULT_NAME = "default";

export interface Aliases {
  readonly voices: readonly NameAlias[];
  readonly models: readonly NameAlias[];
}

/** Ids are read in any case, names are not. */
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function spelling(name: string): string {
  return ID.test(name) ? name.toLowerCase() : name;
}

/** The target of exactly this name; null: it has none. */
export function aliasTarget(aliases: readonly NameAlias[], name: string): string | null {
  const wanted = spelling(name);
  return aliases.find((alias) => spelling(alias.name) === wanted)?.target ?? null;
}
