import type { ChildProcess } from 'node:child_process';

/** Ends a child at once, or its whole process group; one that is gone already is no fault. */
export function killChild(child: ChildProcess, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (group) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Gone already.
  }
}
