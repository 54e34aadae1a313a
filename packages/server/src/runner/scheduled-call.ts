/** A scheduled call, by its place in its batch, and the claim of who makes it. */
export interface ScheduledCallRef {
  readonly batchId: string;
  readonly position: number;
  readonly claimId: string;
}
