/**
 * Starts to count; answers how many milliseconds of processor time this process has used since: what a computation
 * costs, whoever else is at work.
 */
export function cpuTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}
