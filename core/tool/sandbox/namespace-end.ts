import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ends a sandbox from outside by killing the first process of its pid namespace: `outer` is its parent and waits for it,
 * so `outer` exits only after the kernel has ended every process inside. Without such a child `outer` itself is killed.
 */
export function endNamespace(outer: number): void {
  const children = childrenOf(outer);
  for (const pid of children.length > 0 ? children : [outer]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

function childrenOf(parent: number): number[] {
  const children: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      // The name in parentheses may itself hold spaces and parentheses; fields count from its end.
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent)
        children.push(Number(entry));
    } catch {
      // Ended while we looked.
    }
  }
  return children;
}
