/* Finds changes that landed before and that a candidate takes back without a word about it. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import { askGit, gitFailed, lacksObjects, maxListBytes } from '../../workspace/git/git.ts';
import { treeOf } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import type { Attempt } from '../state/open-run.ts';

/** First-parent commits before the landing, the one that it lands on included. */
const maxCommits = 100;

/**
 * A supplied change that was made from an older tree than the one it names (a squash on a wrong base, a merge resolved
 * with `ours`) takes back what landed in between, and does something else besides
 * (`docs/decisions/0037-merge-queue.md`). A message that says `This reverts commit ID.` of each is an intent.
 */
export async function takenBackFindings({
  identity: { isWorked, wording },
  environment: { repository },
  services: { scratch },
  patch,
}: Pick<Attempt, 'identity' | 'environment' | 'services' | 'patch'>): Promise<readonly Finding[]> {
  if (isWorked || patch.baseCommit === undefined) return [];
  const commits = await listChanges(scratch, patch.baseCommit, repository.isWhole !== true);
  const touched = new Map<string, PatchFile | undefined>(patch.files.map((file) => [file.path, file]));
  for (const { oldPath } of patch.files)
    if (oldPath !== undefined && !touched.has(oldPath)) touched.set(oldPath, undefined);
  for (const { count, before } of suspects(commits, touched).toReversed()) {
    const exact = [...before].filter(([path, side]) => isAt(touched.get(path), side)).map(([path]) => path);
    const [first] = exact;
    if (first === undefined) continue;
    const isAll = exact.length === before.size;
    if (isAll && patch.files.every(({ path, oldPath = path }) => before.has(path) && before.has(oldPath)))
      continue;
    const undone = commits.slice(0, count);
    const oldest = undone.at(-1)?.parent ?? '';
    if (!isAll) {
      const reverse = await changeBackTo(scratch, patch.baseTree, oldest);
      if (reverse === undefined) return [notCompared(undone)];
      const others = [...before.keys()].filter((path) => !exact.includes(path));
      if (!others.every((path) => holds(patch, reverse, path))) continue;
    }
    if (undone.every(({ id }) => isStated(wording.message ?? '', id))) continue;
    // One file as it was before one commit is as often meant (lines that move on, a file that comes back).
    const severity = undone.length > 1 || before.size > 1 ? 'error' : 'warning';
    return [{ ...toFinding(undone, oldest, first, before.size), severity }];
  }
  return [];
}

/** A file on one side: mode and blob; `undefined` if there is none. */
type Side = string | undefined;

interface LandedChange {
  readonly id: string;
  readonly parent: string;
  readonly files: readonly { readonly path: string; readonly before: Side; readonly after: Side }[];
}

/** `undefined` if the objects of `commit` are not here. */
async function changeBackTo(scratch: Scratch, tree: string, commit: string): Promise<PatchSet | undefined> {
  try {
    return await normalisePatch(scratch, { commit: undefined, tree }, await treeOf(scratch, commit));
  } catch (fault) {
    if (lacksObjects(fault)) return undefined;
    throw fault;
  }
}

/**
 * Commits with a parent here, newest first, each against its first parent. If the clone may be partial, the list ends
 * at the first commit whose trees are not here.
 */
async function listChanges(
  scratch: Scratch,
  tip: string,
  mayBePartial: boolean,
): Promise<readonly LandedChange[]> {
  const flags = ['--first-parent', '-m', '--raw', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff'];
  const more = ['--ignore-submodules=none', '--no-show-signature', `--max-count=${maxCommits}`];
  const args = ['log', ...flags, ...more, '--format=%x01%H %P', '--end-of-options', tip];
  const { code, stdout, stderr } = await askGit(scratch, args, { maxBytes: maxListBytes });
  const fault = code === 0 ? undefined : gitFailed(args, code, stderr);
  if (fault !== undefined && !(mayBePartial && lacksObjects(fault))) throw fault;
  const listed = stdout.toString('utf8');
  const commits: LandedChange[] = [];
  for (const block of listed.split('\u0001').slice(1)) {
    const [head = '', ...fields] = block.split('\0');
    const [id = '', parent] = head.trim().split(' ');
    if (parent === undefined) break;
    const files = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const raw = /^\n?:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[at] ?? '');
      if (raw === null) continue;
      const [, oldMode = '', newMode = '', oldBlob = '', newBlob = ''] = raw;
      files.push({
        path: fields[at + 1] ?? '',
        before: toSide(oldMode, oldBlob),
        after: toSide(newMode, newBlob),
      });
    }
    commits.push({ id, parent, files });
  }
  return commits;
}

function toSide(mode: string | undefined, blob: string | undefined): Side {
  return mode === undefined || blob === undefined || /^0+$/.test(mode) ? undefined : `${mode} ${blob}`;
}

interface Suspect {
  /** How many of the newest commits. */
  readonly count: number;
  /** What they changed together, as it was before them. */
  readonly before: ReadonlyMap<string, Side>;
}

/** Newest commits whose paths the candidate changes, every one. */
function suspects(
  commits: readonly LandedChange[],
  touched: ReadonlyMap<string, unknown>,
): readonly Suspect[] {
  const tip = new Map<string, Side>();
  const before = new Map<string, Side>();
  const found: Suspect[] = [];
  for (const [index, { files }] of commits.entries()) {
    for (const file of files) {
      if (!tip.has(file.path)) tip.set(file.path, file.after);
      before.set(file.path, file.before);
    }
    const changed = [...before].filter(([path, side]) => tip.get(path) !== side);
    if (changed.length === 0) continue;
    if (changed.every(([path]) => touched.has(path)))
      found.push({ count: index + 1, before: new Map(changed) });
  }
  return found;
}

function isAt(file: PatchFile | undefined, side: Side): boolean {
  return file !== undefined && file.oldPath === undefined && toSide(file.newMode, file.newBlob) === side;
}

/** Whether the candidate takes back at least what `reverse` does at a path, whatever else it does there. */
function holds(candidate: PatchSet, reverse: PatchSet, path: string): boolean {
  const [ours, wanted] = [runsOf(candidate, path), runsOf(reverse, path)];
  if (ours === undefined || wanted === undefined || wanted.length === 0) return false;
  return wanted.every((one) =>
    ours.some(
      (run) =>
        run.from <= one.from &&
        run.from + run.removed >= one.from + one.removed &&
        `\n${run.added.join('\n')}\n`.includes(`\n${[...one.added, ''].join('\n')}`),
    ),
  );
}

/** Lines that are replaced in one place: `removed` lines from line `from` on give way to `added`. */
interface Run {
  readonly from: number;
  readonly removed: number;
  readonly added: readonly string[];
}

function runsOf({ diff, files }: PatchSet, path: string): readonly Run[] | undefined {
  const file = files.find((one) => one.path === path && one.oldPath === undefined);
  if (file === undefined || file.binary) return undefined;
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const runs: { from: number; removed: number; added: string[] }[] = [];
  let shift = 0;
  let open: (typeof runs)[number] | undefined;
  for (const { kind, line, start, end } of hunkLines(diff, file)) {
    if (kind === 'context') {
      open = undefined;
      continue;
    }
    // `line` counts on the side of the line; what was added before shifts it.
    if (open === undefined) {
      open = { from: kind === 'removed' ? line : line - shift, removed: 0, added: [] };
      runs.push(open);
    }
    if (kind === 'removed') open.removed += 1;
    else open.added.push(bytes.toString('utf8', start, end));
    shift += kind === 'added' ? 1 : -1;
  }
  return runs;
}

function isStated(message: string, id: string): boolean {
  return [...message.matchAll(/This reverts commit ([0-9a-f]{7,64})\b/g)].some(([, named = '']) =>
    id.startsWith(named),
  );
}

function notCompared(undone: readonly LandedChange[]): Finding {
  const shown = undone.map(({ id }) => id.slice(0, 12)).join(', ');
  return {
    rule: 'scope',
    severity: 'warning',
    message: `whether the change takes back ${shown} is not known, because this partial clone lacks their files: \`git fetch --refetch --no-filter\``,
    detail: { commits: undone.map(({ id }) => id) },
  };
}

function toFinding(
  undone: readonly LandedChange[],
  oldest: string,
  path: string,
  paths: number,
): Omit<Finding, 'severity'> {
  const shown = undone.map(({ id }) => id.slice(0, 12));
  const listed = shown.slice(0, 3).join(', ');
  const many = shown.length > 3 ? ` and ${shown.length - 3} more` : '';
  const what = shown.length === 1 ? `commit ${listed}` : `commits ${listed}${many}`;
  return {
    rule: 'scope',
    message: `the change takes back ${what}, which landed before it: it seems to be made on ${oldest.slice(0, 12)}. Make it again on the tip; if it is meant, say \`This reverts commit ID.\` of each in the message`,
    path,
    detail: { commits: undone.map(({ id }) => id), madeOn: oldest, paths },
  };
}
