import { draftReview, type ReviewedDraft } from '../../api/intent/draft-review.ts';
import type { DraftEdit } from '../../engine/run/draft/edited-draft.ts';
import { whyItWaits } from '../../engine/run/draft/why-it-waits.ts';
import type { LineReader } from '../terminal/line-reader.ts';
import type { CommandContext } from './command.ts';

/** What a person says of a draft. */
type Reviewed =
  | { readonly answer: 'confirm' | 'cancel' | 'wait' }
  /** With what shall be different. */
  | { readonly answer: 'modify'; readonly note: string };

/**
 * Shows a draft, always, and has it confirmed: by `--yes`, by the person at the terminal, or, where there is none and
 * nothing is left to decide, by its low risk (resolutions, `writ run --request`). Else it waits.
 */
export async function reviewDraft(
  { options, interactive, print, json }: CommandContext,
  drafted: ReviewedDraft,
  lines: () => LineReader,
  edits: readonly DraftEdit[] = [],
): Promise<Reviewed> {
  const review = draftReview(drafted, edits);
  if (json) for (const line of review.trimEnd().split('\n')) print.complain(line);
  else print.text(review);
  if (options.flag('yes')) return { answer: 'confirm' };
  if (interactive) return askPerson(print, lines());
  const isPlain = whyItWaits(drafted.contract.effective.risk.level, drafted, edits).length === 0;
  if (isPlain) print.note('the draft goes on unconfirmed: its risk is low, and it leaves nothing to decide');
  return { answer: isPlain ? 'confirm' : 'wait' };
}

const maxAsked = 5;

async function askPerson(print: CommandContext['print'], lines: LineReader): Promise<Reviewed> {
  for (let asked = 0; asked < maxAsked; asked += 1) {
    print.complain('confirm, modify or cancel?');
    const said = (await lines.next())?.trim().toLowerCase();
    if (said === undefined) return { answer: 'cancel' };
    if (said === 'confirm' || said === 'c') return { answer: 'confirm' };
    if (said === 'cancel' || said === 'x') return { answer: 'cancel' };
    if (said !== 'modify' && said !== 'm') continue;
    print.complain('what shall be different?');
    const note = (await lines.next())?.trim();
    if (note === undefined) return { answer: 'cancel' };
    if (note !== '') return { answer: 'modify', note };
  }
  return { answer: 'cancel' };
}
