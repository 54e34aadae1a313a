/** How much of the work of this process the present thread does while something is waited for. */

/** From 0, all of it in other threads, to 1. Of processor time, so that other programs make no difference. */
export async function ownShare(work: () => Promise<unknown>): Promise<number> {
  const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];
  await work();
  return total(process.threadCpuUsage(own)) / total(process.cpuUsage(all));
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
