import type { RunView } from '../../core/interfaces/run-view.ts';
import { failedTests } from '../../engine/record/failure-text.ts';
import { tokenWords, usdWords } from '../screen/usage-words.ts';
import type { Used } from '../state/usage.ts';
import type { TurnScope } from './turn-scope.ts';

/** Tests that are named, and characters of a name. */
const [most, mostCharacters] = [5, 200];

interface Masking {
  readonly setting: { readonly approval: Pick<TurnScope['setting']['approval'], 'mask'> };
}

/** What failed in a run, each in a line of its own: a person sees why it is planned anew. None: nothing has a name. */
export function failedWords(scope: Masking, { stages }: Pick<RunView, 'stages'>): readonly string[] {
  return namesOf(scope, stages, 'failed: ');
}

/** What a session has spent at one moment. */
export interface SpentSoFar {
  readonly calls: number;
  readonly usage: Used;
}

export function spentSoFar({ state, calls }: Pick<TurnScope, 'state' | 'calls'>): SpentSoFar {
  return { calls: calls(), usage: state().usage };
}

/** What was spent between two moments: `9 model calls, 12.4k tokens, $0.03`; without dollars if no price is known. */
export function spentWords(from: SpentSoFar, to: SpentSoFar): string {
  const [before, after] = [from.usage, to.usage];
  const calls = to.calls - from.calls;
  const tokens = after.inputTokens + after.outputTokens - before.inputTokens - before.outputTokens;
  const costUsd = after.costUsd === undefined ? undefined : after.costUsd - (before.costUsd ?? 0);
  return `${calls} model ${calls === 1 ? 'call' : 'calls'}, ${tokenWords(tokens)} tokens${costUsd === undefined ? '' : `, ${usdWords(costUsd)}`}`;
}

/** What failed in a stage, as its gate tells it. */
export function failedNames(scope: Masking, stage: RunView['stages'][number]): readonly string[] {
  return namesOf(scope, [stage], '');
}

function namesOf({ setting }: Masking, stages: RunView['stages'], before: string): readonly string[] {
  const failed = failedTests(stages);
  const shown = failed.slice(0, most).map((name) => `${before}${oneLine(setting.approval.mask(name))}`);
  const left = failed.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function oneLine(name: string): string {
  const line = name.replace(/\s+/g, ' ');
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters).toWellFormed()}…` : line;
}
