import { untrustedText } from '../../engine/work/turns/open-turns.ts';
import { guardingProfile } from '../../spec/facts.ts';
import { type HunkLine, hunksOf } from '../screen/hunks.ts';
import { toSnapshot } from '../state/snapshot.ts';
import type { SaidReview } from '../state/state.ts';
import type { TurnScope } from './turn-scope.ts';

/** Lines of a hunk, and characters of each, that are told with what was said of it. */
const most = { lines: 20, characters: 200 } as const;

/** What people said of hunks, as a model is told it. */
export interface Reviewed {
  readonly text: string;
  readonly ids: readonly string[];
}

/** Where a model hears of it: in what was said before, or in what a plan is made of. Each hears it once. */
type Hearing = 'talk' | 'plan';

/**
 * What people said of hunks that no model was told yet; `undefined` where there is nothing. A hunk that is kept without
 * a word says nothing. Words of the person stand as such, lines of files as data.
 */
export function untoldReviews(
  { setting, state }: Pick<TurnScope, 'setting' | 'state'>,
  hearing: Hearing,
): Reviewed | undefined {
  const untold = state().reviews.filter((one) => isNews(one, hearing));
  if (untold.length === 0) return undefined;
  const { patchsets } = toSnapshot(state());
  const { promptInjection } = guardingProfile(setting.clock.now()).security;
  const told = untold.map(({ patchset, path, hunk, verdict, comment }) => {
    const shown = patchsets.find(({ id }) => id === patchset);
    const found = shown && hunksOf(shown).find(({ id }) => id === hunk);
    const lines = [
      `${path} ${found?.header ?? ''}`,
      ...(found?.lines ?? []).slice(0, most.lines).map(lineText),
    ];
    const what = verdict === 'reject' ? 'The person rejects' : 'The person says of';
    const because = verdict === 'reject' ? 'Because' : 'The words';
    return [
      `${what} this change:\n${untrustedText(promptInjection, lines.join('\n'))}`,
      ...(comment === undefined ? [] : [`${because}: ${comment}`]),
    ].join('\n');
  });
  const text = ['The person has reviewed changes of yours.', ...told].join('\n\n');
  return { text, ids: untold.map(({ id }) => id) };
}

/** It stands in the talk from here on, unless it stands there already, and is told there no more. */
export async function tellReviewed(
  { tell, state }: Pick<TurnScope, 'tell' | 'state'>,
  { text, ids }: Reviewed,
  hearing: Hearing,
): Promise<void> {
  const isSaid =
    hearing === 'plan' && !state().reviews.some(({ id, told }) => ids.includes(id) && told === undefined);
  if (!isSaid) await tell({ type: 'exchanged', message: { role: 'user', text } });
  await tell({ type: 'reviews-told', ids, hearing });
}

function isNews({ told, verdict, comment }: SaidReview, hearing: Hearing): boolean {
  // Whoever plans has told the talk of it, too.
  const isTold = told === 'plan' || told === hearing;
  return !isTold && (verdict === 'reject' || comment !== undefined);
}

const markOf = { added: '+', removed: '-', same: ' ', note: '\\ ' } as const;

function lineText({ kind, text }: HunkLine): string {
  return `${markOf[kind]}${text.slice(0, most.characters)}`;
}
