import type { Attempt } from './attempt.ts';

/** The attempt as its record shows it: the back end that its checks ran in, and what their workspaces lacked. */
export function ranIn(
  attempt: Attempt,
  { sandbox: sandboxName, skipped }: { readonly sandbox: string; readonly skipped: readonly string[] },
): Attempt {
  return { ...attempt, skipped, identity: { ...attempt.identity, sandboxName } };
}
