interface Child {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/** Ends a child at once, or its whole process group; one that is gone already is no fault. */
export function killChild(child: Child, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (group) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Gone already.
  }
}
