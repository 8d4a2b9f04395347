import type { Seen } from '../seen.ts';
import type { Held } from '../wire/hold-control.ts';

/** How this page stands to the right to write. */
export type Standing =
  /** It has it. */
  | 'mine'
  /** It had it, it ran out, and the next write takes it again. */
  | 'lapsed'
  /** Nobody has it: the first write takes it. */
  | 'free'
  /** The terminal has it, and gives it to whoever asks. */
  | 'terminal'
  /** Another client has it until it gives it back or it runs out. */
  | 'other'
  /** No page may have it. */
  | 'closed';

/** `attachable`: kinds of clients that may attach, where that is known. */
export function standingOf(
  controller: Pick<Seen['controller'], 'kind' | 'canWrite'> & { readonly reason?: string },
  held: Held,
  attachable: readonly string[] | undefined,
): Standing {
  if (held.token !== undefined) return 'mine';
  const isClosed =
    held.isDisabled ||
    controller.reason === 'no client may attach' ||
    attachable?.includes('browser') === false;
  if (isClosed) return 'closed';
  if (controller.kind === 'browser' || controller.kind === 'automation') return 'other';
  if (held.isLapsed) return 'lapsed';
  return controller.kind === 'none' ? 'free' : 'terminal';
}

/** Whether a write may be tried without asking for control first. */
export function mayWrite(standing: Standing): boolean {
  return standing === 'mine' || standing === 'lapsed' || standing === 'free';
}

/** Who has the session, in a few words. */
export function controllerWords(standing: Standing, kind: string): string {
  switch (standing) {
    case 'mine':
      return 'You have control';
    case 'lapsed':
      return 'Your control has run out';
    case 'free':
      return 'No one has control';
    case 'terminal':
      return 'The terminal has control';
    case 'other':
      return kind === 'automation' ? 'A program has control' : 'Another page has control';
    case 'closed':
      return whoElse[kind] ?? 'This page only watches';
  }
}

const whoElse: Readonly<Record<string, string>> = {
  tui: 'The terminal has control; this page only watches',
  automation: 'A program has control; this page only watches',
};
