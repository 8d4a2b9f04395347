import { WritError } from '../../core/base/errors.ts';
import { classifyCommand } from '../approvals/classify-command.ts';
import type { Decided, Moment } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import { requireIdle } from './require-idle.ts';
import type { Deed, Spoken } from './slash/spoken.ts';
import type { SessionState } from './state.ts';

const kinds = { shell: true, verify: true } as const satisfies Readonly<Record<Deed['kind'], true>>;

export function isDeed(spoken: Spoken): spoken is Deed {
  return Object.hasOwn(kinds, spoken.kind);
}

/** A turn of its own. CONTROLLER_CONFLICT while one runs, UNSUPPORTED_OPERATION where the session is not for that. */
export function beginDeed(
  state: SessionState,
  deed: Deed,
  said: Extract<Fact, { readonly type: 'said' }>,
  by: Speaker,
  { newId }: Pick<Moment, 'newId'>,
): Decided {
  requireIdle(state);
  if (deed.kind === 'shell') requireMayRun(state, deed.command);
  const turn = newId();
  return {
    facts: [said, { type: 'turn-began', turn }],
    wants: [{ type: 'turn', turn, spoken: deed, by }],
  };
}

/** What only reads runs what is proven to read, and nothing else (document 2, Context modes). */
function requireMayRun({ settings: { context } }: SessionState, command: string): void {
  if (context === 'dev') return;
  const { class: judged, why } = classifyCommand(command);
  if (judged === 'safe') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `a session for ${context} only reads: ${why}`,
    hints: ['`/context dev` first'],
  });
}
