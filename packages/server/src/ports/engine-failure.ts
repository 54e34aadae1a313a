/** Failures of engines that a retry cannot change. */

/** An engine refuses its key, its address or its model, and will refuse the next request in the same way. */
export class EngineFailure extends Error {
  override readonly name: string = "EngineFailure";
  readonly isPermanent: boolean;

  constructor(
    message: string,
    { isPermanent = false, ...options }: ErrorOptions & { readonly isPermanent?: boolean } = {},
  ) {
    super(message, options);
    this.isPermanent = isPermanent;
  }
}

/** HTTP statuses of a wrong key, a wrong address and an unknown model. */
const PERMANENT_STATUSES: readonly unknown[] = [401, 403, 404];

export function isPermanentStatus(status: unknown): boolean {
  return PERMANENT_STATUSES.includes(status);
}

/** For an event of the call engine: present only where it is true. */
export function permanence(error: unknown): { readonly permanent?: true } {
  return error instanceof EngineFailure && error.isPermanent ? { permanent: true } : {};
}
