/** What the user did since the last model call, as text for the model. */
import { untrustedText } from '../../agent/model-loop/model-turns.ts';
import { guardingProfile } from '../../spec/facts.ts';
import { type HunkLine, hunksOf } from '../screen/hunks.ts';
import { toSnapshot } from '../state/snapshot.ts';
import type { SaidReview } from '../state/state.ts';
import type { TurnScope } from './turn-scope.ts';

/** Commands of the user, or comments on hunks, as text for a model. */
interface Untold {
  readonly text: string;
  readonly ids: readonly string[];
}

/** Commands of the user that no model got yet; `undefined` if there are none. */
export function untoldRuns({ state }: Pick<TurnScope, 'state'>): Untold | undefined {
  const untold = state().ran.filter(({ isTold }) => !isTold);
  if (untold.length === 0) return undefined;
  return { text: untold.map(({ text }) => text).join('\n\n'), ids: untold.map(({ id }) => id) };
}

/** Adds them to the dialogue and marks them as sent. */
export async function sendRuns({ emit }: Pick<TurnScope, 'emit'>, { text, ids }: Untold): Promise<void> {
  await emit({ type: 'exchanged', message: { role: 'user', text } });
  await emit({ type: 'runs-told', ids });
}

/** Lines of a hunk, and characters of each, that a model gets. */
const most = { lines: 20, characters: 200 } as const;

/** Where a model receives a review: in the dialogue, or in the input of a plan. Each receives it once. */
type Hearing = 'talk' | 'plan';

/**
 * Verdicts and comments that no model got yet; `undefined` if there are none. Words of the user are instructions,
 * lines of files are data.
 */
export function untoldReviews(
  { setting, state }: Pick<TurnScope, 'setting' | 'state'>,
  hearing: Hearing,
): Untold | undefined {
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

/** Adds the text to the dialogue, unless it is there, and marks it as sent. */
export async function sendReviewed(
  { emit, state }: Pick<TurnScope, 'emit' | 'state'>,
  { text, ids }: Untold,
  hearing: Hearing,
): Promise<void> {
  const isSaid =
    hearing === 'plan' && !state().reviews.some(({ id, told }) => ids.includes(id) && told === undefined);
  if (!isSaid) await emit({ type: 'exchanged', message: { role: 'user', text } });
  await emit({ type: 'reviews-told', ids, hearing });
}

function isNews({ told, verdict, comment }: SaidReview, hearing: Hearing): boolean {
  // A planner's text was added to the dialogue as well.
  const isTold = told === 'plan' || told === hearing;
  return !isTold && (verdict === 'reject' || comment !== undefined);
}

const markOf = { added: '+', removed: '-', same: ' ', note: '\\ ' } as const;

function lineText({ kind, text }: HunkLine): string {
  return `${markOf[kind]}${text.slice(0, most.characters)}`;
}
