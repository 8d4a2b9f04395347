import { WritError } from '../../core/base/errors.ts';
import type { ClientCommand } from './command.ts';
import type { Decided, Moment } from './decided.ts';
import type { Speaker } from './fact.ts';
import type { SessionState } from './state.ts';

/** Characters of a comment on a hunk. */
const maxComment = 2000;

/**
 * A person says something of one hunk; what he does not say again stays, but for the reason of a rejection that he
 * takes back. INVALID_BODY; NOT_FOUND where there is no such
 * patchset, file or hunk; INTERACTION_NOT_ACTIVE for what is committed: that is kept.
 */
export function review(
  state: SessionState,
  { patchset, path, hunk, verdict, comment }: Extract<ClientCommand, { type: 'review' }>,
  by: Speaker,
  { newId }: Moment,
): Decided {
  if (verdict === undefined && comment === undefined)
    throw new WritError('INVALID_BODY', { message: 'expected a `verdict`, a `comment`, or both' });
  if (comment !== undefined && !isComment(comment))
    throw new WritError('INVALID_BODY', {
      message: `expected \`comment\` to have 1 to ${maxComment} characters and no control characters`,
    });
  const shown = state.patchsets.find(({ id }) => id === patchset);
  if (shown === undefined) throw notFound('no such patchset', { patchset });
  const change = shown.changes.find((one) => one.path === path);
  if (change === undefined) throw notFound('the patchset does not change that file', { patchset, path });
  if (change.hunks?.some(({ id }) => id === hunk) !== true)
    throw notFound('the file has no such hunk there', { patchset, path, hunk });
  if (shown.status === 'accepted')
    throw new WritError('INTERACTION_NOT_ACTIVE', {
      message: 'the change is committed: it is kept',
      detail: { patchset },
    });
  const known = state.reviews.find((one) => one.patchset === patchset && one.hunk === hunk);
  // Why a hunk was rejected is nothing to say of one that is kept after all.
  const isTakenBack = verdict === 'keep' && known?.verdict === 'reject';
  const now = {
    verdict: verdict ?? known?.verdict,
    comment: comment ?? (isTakenBack ? undefined : known?.comment),
  };
  return {
    facts: [
      {
        type: 'reviewed',
        id: newId(),
        review: {
          patchset,
          path,
          hunk,
          ...(now.verdict === undefined ? {} : { verdict: now.verdict }),
          ...(now.comment === undefined ? {} : { comment: now.comment }),
        },
        by,
      },
    ],
    wants: [],
  };
}

function isComment(text: string): boolean {
  return text.trim() !== '' && text.length <= maxComment && !/(?!\n)\p{Cc}/u.test(text);
}

function notFound(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('NOT_FOUND', { message, detail });
}
