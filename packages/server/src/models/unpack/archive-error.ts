/** What is wrong with an archive: the rest of a sentence that begins with it. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}
