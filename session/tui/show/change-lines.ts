/* The command `/diff`, and the review of single hunks. */
import { WritError } from '../../../core/base/errors.ts';
import { patchLines } from '../../screen/diff.ts';
import { hunksOf, type ShownHunk } from '../../screen/hunks.ts';
import { type Line, span, visible } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { LocalCommand } from '../local-commands.ts';

type Changes = Pick<Snapshot, 'patchsets' | 'reviews' | 'held'>;

/** The change that was shown last: hunk numbers refer to it, even if a newer one exists. */
export interface LastShown {
  patchset?: string | undefined;
}

function reviewed(
  { patchsets, held }: Changes,
  last: LastShown = {},
): Snapshot['patchsets'][number] | undefined {
  const wanted = held?.patchset ?? last.patchset;
  return patchsets.find(({ id }) => id === wanted) ?? patchsets.at(-1);
}

/** The change that is held, else the newest, with the hunk numbers of `/keep`, `/reject` and `/comment`. */
export function changeLines(snapshot: Changes, columns: number, last: LastShown = {}): readonly Line[] {
  const patchset = reviewed(snapshot);
  last.patchset = patchset?.id;
  if (patchset === undefined) return [[span('  nothing was changed yet', 'dim')]];
  const hunks = hunksOf(patchset, snapshot.reviews);
  return [
    [span('Change', 'heading'), span(` ${patchset.status}`, 'dim')],
    ...patchset.changes
      .filter(({ hunks: own = [] }) => own.length === 0)
      .map(({ path, changeType }): Line => [span(`  ${changeType} `, 'dim'), span(visible(path), 'strong')]),
    ...hunks.flatMap((hunk, at) => hunkLines(hunk, at, columns)),
  ];
}

function hunkLines(hunk: ShownHunk, at: number, columns: number): readonly Line[] {
  const { path, header, lines, verdict, comment } = hunk;
  const text = lines.map(({ kind, text: line }) => `${signs[kind]}${line}`).join('\n');
  return [
    [],
    [
      span(`${at + 1} `, 'accent'),
      span(visible(path), 'strong'),
      ...(verdict === undefined ? [] : [span(`  ${verdicts[verdict]}`, verdict === 'keep' ? 'good' : 'bad')]),
      ...(comment === undefined ? [] : [span(`  “${visible(comment.replaceAll('\n', ' '))}”`, 'warn')]),
    ],
    ...patchLines(`${header}\n${text}`, { columns }),
  ];
}

const verdicts = { keep: 'kept', reject: 'rejected' } as const;
const signs = { added: '+', removed: '-', same: ' ', note: '\\ ' } as const;

function noHunk(number: number, count: number): string {
  if (count === 0) return 'nothing was changed yet that could be reviewed';
  return `there is no hunk ${number}: \`/diff\` numbers them, ${count === 1 ? 'and there is 1' : `1 to ${count}`}`;
}

export async function reviewHunk(
  door: SessionDoor,
  { hunk: number, verdict, comment }: Extract<LocalCommand, { type: 'review' }>,
  last: LastShown = {},
): Promise<readonly Line[]> {
  const snapshot = door.snapshot();
  const patchset = reviewed(snapshot, last);
  const hunks = patchset === undefined ? [] : hunksOf(patchset, snapshot.reviews);
  const found = hunks[number - 1];
  if (found === undefined) throw new WritError('NOT_FOUND', { message: noHunk(number, hunks.length) });
  const { patchset: of, path, id } = found;
  await door.review({
    patchset: of,
    path,
    hunk: id,
    ...(verdict === undefined ? {} : { verdict }),
    ...(comment === undefined ? {} : { comment }),
  });
  const words =
    verdict === undefined ? 'noted' : verdict === 'keep' ? 'kept' : 'rejected; the model is informed';
  const tone = verdict === 'reject' ? 'bad' : 'good';
  return [[span(`  hunk ${number} of ${visible(path)}: `, 'dim'), span(words, tone)]];
}
