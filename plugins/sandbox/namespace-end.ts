import { childrenOf } from './process-tree.ts';

/**
 * Ends a sandbox from outside by killing the first process of its pid namespace: `outer` is its parent and waits for
 * it, so `outer` exits only after the kernel has ended every process inside. Without such a child `outer` itself is
 * killed.
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
