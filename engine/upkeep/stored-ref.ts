import type { GitDirectory } from '../../workspace/git/git.ts';
import { runGit } from '../../workspace/git/git.ts';
import { isRefName } from '../../workspace/git/ref-name.ts';

/**
 * What a ref of ours holds. `context` (by ref-anchoring, or one of many by orphan-commit) and `orphans` keep what
 * retrieval found from `git gc` (blobRetentionStrategy); `orphans` is the one ref that older versions kept for all runs
 * of a repository, and does not travel; nor does `fetched`, a record that came from elsewhere and is kept beside ours.
 * `other` is below our prefixes, yet of no kind that writ writes.
 */
type RefKind =
  | 'run'
  | 'intent'
  | 'plan'
  | 'content'
  | 'approval'
  | 'context'
  | 'fetched'
  | 'orphans'
  | 'other';

/** A ref below a prefix that the spec allows for `aiRefPrefix`. */
export interface StoredRef {
  readonly ref: string;
  /** What it points to. */
  readonly object: string;
  readonly kind: RefKind;
  /** Without its final slash: `refs/ai`. */
  readonly prefix: string;
  /** Encoded id: of the run for a run, its content, context and approvals, else of the intent or plan. */
  readonly id: string;
}

/** Refs that stay where they are: no two repositories could join them, or they are a repository's own notes. */
export function travels({ kind }: Pick<StoredRef, 'kind'>): boolean {
  return kind !== 'orphans' && kind !== 'fetched';
}

/** Refs that a non-descendant may replace, because retention deletes from them. */
export function isDeletable({ kind }: Pick<StoredRef, 'kind'>): boolean {
  return kind === 'content' || kind === 'context';
}

const kinds: Readonly<Record<string, RefKind>> = {
  runs: 'run',
  intents: 'intent',
  plans: 'plan',
  content: 'content',
  context: 'context',
};
const maxListBytes = 256 * 1024 * 1024;

/** Refs that are pushed, fetched and checked: `refs/ai/**` and `refs/x-…/**`. */
export const storedPatterns = ['refs/ai/**', 'refs/x-*/**'] as const;

/** Every ref of ours in a repository, sorted by name, with one process. */
export async function listStoredRefs(place: GitDirectory): Promise<readonly StoredRef[]> {
  const listed = await runGit(
    place,
    ['for-each-ref', '--format=%(objectname) %(refname)', ...storedPatterns],
    { maxBytes: maxListBytes },
  );
  return parseRefLines(listed.toString('utf8'), ' ');
}

/** Parses `<object><separator><ref>` lines; refs that are not ours are omitted. */
export function parseRefLines(text: string, separator: string): readonly StoredRef[] {
  const refs: StoredRef[] = [];
  for (const line of text.split('\n')) {
    const at = line.indexOf(separator);
    const found = at < 0 ? undefined : toStoredRef(line.slice(at + 1), line.slice(0, at));
    if (found) refs.push(found);
  }
  return refs;
}

/** Returns `undefined` for a name that git would refuse or that is outside our prefixes. */
export function toStoredRef(ref: string, object: string): StoredRef | undefined {
  if (!/^refs\/(?:ai|x-[^/]*)\/./.test(ref) || !isRefName(ref)) return undefined;
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(object)) return undefined;
  const parts = ref.split('/');
  const kind = kinds[parts.at(-2) ?? ''];
  if (kind !== undefined && parts.length >= 4)
    return { ref, object, kind, prefix: parts.slice(0, -2).join('/'), id: parts.at(-1) ?? '' };
  if (parts.at(-3) === 'approvals' && parts.length >= 5)
    return { ref, object, kind: 'approval', prefix: parts.slice(0, -3).join('/'), id: parts.at(-2) ?? '' };
  if (parts.at(-3) === 'orphan-commits' && parts.length >= 5)
    return { ref, object, kind: 'context', prefix: parts.slice(0, -3).join('/'), id: parts.at(-2) ?? '' };
  if (parts.at(-3) === 'fetched' && parts.at(-2)?.startsWith('of-') && parts.length >= 5)
    return {
      ref,
      object,
      kind: 'fetched',
      prefix: parts.slice(0, -3).join('/'),
      id: (parts.at(-2) ?? '').slice(3),
    };
  const kindOfRest = parts.at(-1) === 'orphans' ? 'orphans' : 'other';
  return { ref, object, kind: kindOfRest, prefix: parts.slice(0, 2).join('/'), id: parts.slice(2).join('/') };
}
