import { childrenOf } from './process-tree.ts';

/**
 * The first process of a sandbox's pid namespace, below the program that sets the sandbox up; that one stands below the
 * tracer if there is one.
 */
export function firstOf(started: number, isTraced: boolean): number | undefined {
  const [child] = childrenOf(started);
  return isTraced && child !== undefined ? firstOf(child, false) : child;
}

/**
 * Ends a sandbox from outside by killing the first process of its pid namespace: its parent waits for it, so what was
 * started exits only after the kernel has ended every process inside. Without such a process what was started itself is
 * killed.
 */
export function endNamespace(started: number, isTraced = false): void {
  try {
    process.kill(firstOf(started, isTraced) ?? started, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
