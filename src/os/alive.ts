/** Whether a process of this machine is alive, even if it belongs to another user. */
export function isAlive(pid: number): boolean {
  // 0 and negative numbers mean groups of processes.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
