import type { RunView } from '../../core/contract/run-view.ts';
import { failedTests } from '../../engine/run/record/failure-text.ts';
import type { TurnScope } from './turn-scope.ts';

/** Tests that are named, and characters of a name. */
const [most, mostCharacters] = [5, 200];

/** What failed in a run, each in a line of its own: a person sees why it is planned anew. None: nothing has a name. */
export function failedWords(
  { setting }: Pick<TurnScope, 'setting'>,
  { stages }: Pick<RunView, 'stages'>,
): readonly string[] {
  const failed = failedTests(stages);
  const shown = failed.slice(0, most).map((name) => `failed: ${oneLine(setting.approval.mask(name))}`);
  const left = failed.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function oneLine(name: string): string {
  const line = name.replace(/\s+/g, ' ');
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters).toWellFormed()}…` : line;
}
