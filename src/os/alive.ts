/** Whether a process of this machine lives, also where it is another user's. */
export function isAlive(pid: number): boolean {
  // 0 and below are groups of processes.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
