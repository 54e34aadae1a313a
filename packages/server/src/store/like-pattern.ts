/** A LIKE pattern that finds the text anywhere, its wildcards taken as they are. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
