import { hunksOf, type ShownHunk } from '../../screen/hunks.ts';
import { type Line, span } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { LocalCommand } from '../local-commands.ts';
import type { Shape } from '../print/shape.ts';

type Changes = Pick<Snapshot, 'patchsets' | 'reviews' | 'held'>;

/** The change that is reviewed: the one that is held, else the newest. */
function reviewed({ patchsets, held }: Changes): Snapshot['patchsets'][number] | undefined {
  return patchsets.find(({ id }) => id === held?.patchset) ?? patchsets.at(-1);
}

/** That change: its hunks with the numbers that `/keep`, `/reject` and `/comment` take, and what was said. */
export function changeLines(snapshot: Changes, shape: Shape, columns: number): readonly Line[] {
  const patchset = reviewed(snapshot);
  if (patchset === undefined) return [[span('  nothing was changed yet', 'dim')]];
  const hunks = hunksOf(patchset, snapshot.reviews);
  return [
    [span('Change', 'heading'), span(` ${patchset.status}`, 'dim')],
    ...patchset.changes
      .filter(({ hunks: own = [] }) => own.length === 0)
      .map(({ path, changeType }): Line => [span(`  ${changeType} `, 'dim'), span(visible(path), 'strong')]),
    ...hunks.flatMap((hunk, at) => hunkLines(hunk, at, shape, columns)),
  ];
}

function hunkLines(hunk: ShownHunk, at: number, shape: Shape, columns: number): readonly Line[] {
  const { path, header, lines, verdict, comment } = hunk;
  const text = lines.map(({ kind, text: line }) => `${signs[kind]}${line}`).join('\n');
  return [
    [],
    [
      span(`${at + 1} `, 'accent'),
      span(visible(path), 'strong'),
      ...(verdict === undefined ? [] : [span(` ${verdict}`, verdict === 'keep' ? 'good' : 'bad')]),
      ...(comment === undefined ? [] : [span(` ${visible(comment)}`, 'warn')]),
    ],
    ...shape.diff(`${header}\n${text}`, columns),
  ];
}

const signs = { added: '+', removed: '-', same: ' ', note: '\\ ' } as const;

/** Says of one hunk of that change whether it stays, and why. */
export async function reviewHunk(
  door: SessionDoor,
  { hunk: number, verdict, comment }: Extract<LocalCommand, { type: 'review' }>,
): Promise<readonly Line[]> {
  const snapshot = door.snapshot();
  const patchset = reviewed(snapshot);
  const found = patchset === undefined ? undefined : hunksOf(patchset, snapshot.reviews)[number - 1];
  if (found === undefined)
    return [[span(`  there is no hunk ${number}: \`/diff\` has their numbers`, 'warn')]];
  const { patchset: of, path, id } = found;
  await door.review({
    patchset: of,
    path,
    hunk: id,
    ...(verdict === undefined ? {} : { verdict }),
    ...(comment === undefined ? {} : { comment }),
  });
  const words = verdict === undefined ? 'noted' : verdict === 'keep' ? 'kept' : 'rejected; the model is told';
  const tone = verdict === 'reject' ? 'bad' : 'good';
  return [[span(`  hunk ${number} of ${visible(path)}: `, 'dim'), span(words, tone)]];
}
