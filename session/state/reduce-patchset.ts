import type { Fact } from './fact.ts';
import { withOne } from './reduce-work.ts';
import { kept, type SessionState, type TranscriptEntry } from './state.ts';
import { appended, entry, type Shown } from './transcript.ts';
import type { SessionPatchset } from './work.ts';

/** Characters of a diff in a transcript; the patchset has more of it. */
const maxDiff = 32 * 1024;

/** A patchset, or the same one further on; what a whole run changes stands in the transcript, too. */
export function withPatchset(
  state: Pick<SessionState, 'patchsets'> & Shown,
  { patchset, isWhole }: Extract<Fact, { type: 'patched' }>,
  atMs: number,
): Pick<SessionState, 'patchsets'> & Partial<Shown> {
  const patchsets = withOne(state.patchsets, { ...patchset, updatedAtMs: atMs }, kept.patchsets);
  if (isWhole !== true) return { patchsets };
  const { transcript, earlier } = state;
  const shown = transcript.findLastIndex(({ metadata }) => metadata.patchset === patchset.id);
  const before = transcript[shown];
  // What was settled and is proposed once more is made anew: a change of its own, though of the same lines.
  if (before === undefined || (before.status !== 'proposed' && patchset.status === 'proposed'))
    return { patchsets, ...appended(state, diffEntry(patchset, atMs)) };
  const { id, createdAtMs } = before;
  const told = { ...diffEntry(patchset, atMs), id, createdAtMs };
  return { patchsets, transcript: transcript.with(shown, told), earlier };
}

/** Of the fact alone: whoever pages back makes it of that. */
function diffEntry(patchset: Omit<SessionPatchset, 'updatedAtMs'>, atMs: number): TranscriptEntry {
  const { id, status, changes } = patchset;
  const files = changes.length === 1 ? '1 file' : `${changes.length} files`;
  const { text, left } = bounded(changes.map(diffOf));
  return {
    ...entry(`diff-${id}-${atMs}`, 'diff', text, atMs),
    title: `${files} changed${left ? ', cut here' : ''}`,
    status,
    metadata: { patchset: id, ...(left ? { isCut: true } : {}) },
  };
}

/** What has no lines, a binary file or a rename alone, is told by its name. */
function diffOf({ path, changeType, diff }: SessionPatchset['changes'][number]): string {
  return diff === undefined || diff === '' ? `--- ${changeType} ${path}\n` : withEnd(diff);
}

function withEnd(diff: string): string {
  return diff.endsWith('\n') ? diff : `${diff}\n`;
}

/** Whole lines, as many as fit. */
function bounded(diffs: readonly string[]): { readonly text: string; readonly left: boolean } {
  const whole = diffs.join('');
  if (whole.length <= maxDiff) return { text: whole, left: false };
  const end = whole.lastIndexOf('\n', maxDiff);
  return { text: whole.slice(0, end < 0 ? maxDiff : end + 1).toWellFormed(), left: true };
}
