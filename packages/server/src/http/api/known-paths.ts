/** Which methods each path takes: for 405 with its `Allow`, and for the preflights of browsers. */

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();

  /** `path` has its parameters as `{name}`; GET includes HEAD. */
  add(path: string, method: string): void {
    const plain = path.replace(/(?<=.)\/$/, "");
    const source = plain.replaceAll(".", String.raw`\.`).replaceAll(/\{[a-z_]+\}/g, "[^/]+");
    const known = this.#paths.get(plain) ?? {
      pattern: new RegExp(`^${source}/?$`),
      methods: new Set<string>(),
    };
    known.methods.add(method);
    if (method === "GET") known.methods.add("HEAD");
    this.#paths.set(plain, known);
  }

  /** Null for an unknown path. `path` is without its query. */
  methodsOf(path: string): string[] | null {
    // In `/api/agents/usage`, `usage` is not the id of an agent.
    const literal = this.#paths.get(path.replace(/(?<=.)\/$/, ""));
    if (literal !== undefined) return [...literal.methods, "OPTIONS"];
    for (const { pattern, methods } of this.#paths.values()) {
      if (pattern.test(path)) return [...methods, "OPTIONS"];
    }
    return null;
  }
}

/** `/a/{b}/` as the HTTP library writes it. */
export function libraryPath(path: string): string {
  return path.replace(/(?<=.)\/$/, "").replaceAll(/\{([a-z_]+)\}/g, ":$1");
}
