/* Signed results that later runs may reuse: under which conditions, over which content, and how they are stored. */
import { posix } from 'node:path';
import type { ListedWorker } from '../../attest/statement/job-result.ts';
import { canonicalDigest, canonicalize } from '../../core/base/canonical.ts';
import { list, mapOf, object, text } from '../../core/base/schema.ts';
import { followLinks } from '../../readers/judges/tree.ts';
import type { Footprint } from '../../readers/trace/read-trace.ts';
import type { TreeEntry } from '../../workspace/git/tree.ts';
import { digestFile, type Job, maxJobBytes, readShape, refused, sha256Text } from './job.ts';
import { openResult, type ReadFiles, type SignedResult } from './result.ts';

const maxPaths = 400_000;

/** The engine decides by the same that verifiers compute. */
export { isSampled } from '../../attest/statement/job-result.ts';

const paths = list(text(4096, 0), maxPaths);
const observedShape = object('to say what was observed', { named: paths, listed: paths, programs: paths });

/** Paths that a command named and directories that it listed, relative to its workspace; programs of the machine. */
type Observed = Readonly<Record<'named' | 'listed' | 'programs', readonly string[]>>;

/** A git tree, as a workspace shows it. */
export interface ObservedTree {
  readonly entries: readonly Pick<TreeEntry, 'path' | 'mode' | 'object'>[];
  /** Targets of its symbolic links. */
  readonly links: ReadonlyMap<string, string>;
}

/** The part of a job that every run of the same check shares, whatever its candidate. */
export type Conditions = Omit<Job, 'candidate' | 'policy' | 'history' | 'given' | 'for'> & {
  readonly for: Pick<Job['for'], 'repository' | 'stage' | 'check' | 'turn'>;
  readonly given: readonly Pick<Job['given'][number], 'directory' | 'sha256'>[];
};

/** Digest of all that a command depends on beside the tree. A result under another one is about something else. */
export function conditionsOf({ for: whom, given, ...job }: Conditions): string {
  const { rules, argv, env, tools, platform, sandbox, limits, expects } = job;
  const { repository, stage, check, turn } = whom;
  return canonicalDigest({
    schema: 'urn:writ:conditions:v1',
    for: { repository, stage, check, turn },
    given: given.map(({ directory, sha256 }) => ({ directory, sha256 })),
    ...{ rules, argv, env, tools, platform, sandbox, limits, expects: expects ?? null },
  });
}

/** What a traced run observed of a tree, with its digest; or why its result says nothing of another tree. */
export async function observe(
  footprint: Footprint,
  root: string,
  tree: ObservedTree,
): Promise<{ readonly bytes: Buffer; readonly digest: string } | { readonly reason: string }> {
  const within = (path: string): string | undefined =>
    path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
  const own = (all: readonly string[]): readonly string[] => all.flatMap((path) => within(path) ?? []);
  if (footprint.unread > 0) return { reason: `${footprint.unread} lines of its trace cannot be read` };
  const named = own(footprint.named);
  const listed = own(footprint.listed);
  const ofGit = [...named, ...listed].find((path) => path.startsWith('.git/'));
  if (ofGit !== undefined || listed.includes('.git')) return { reason: `it reads \`${ofGit ?? '.git'}\`` };
  const stateOf = statesOf(tree);
  for (const path of footprint.aliased) {
    const inside = within(path);
    const isAbove = `${root}/`.startsWith(path === '/' ? path : `${path}/`);
    if (isAbove || (inside !== undefined && stateOf(inside) === 'tree'))
      return { reason: `it reaches \`${path}\` by another name` };
  }
  const programs = footprint.executed.filter(
    (path) => within(path) === undefined && !path.startsWith('/proc/'),
  );
  // The kernel opens interpreters and loaders by itself: no trace shows them.
  const executable = tree.entries.filter(({ mode }) => mode === '100755').map(({ path }) => path);
  const observed = { named: [...new Set([...named, ...executable])].sort(), listed, programs };
  if (observed.named.length > maxPaths) return { reason: 'it uses more paths than a verdict holds' };
  return { bytes: Buffer.from(canonicalize(observed)), digest: await digestObserved(observed, tree) };
}

/** Digest of the observed paths by what they are in a tree, and of the programs as this machine has them. */
async function digestObserved({ named, listed, programs }: Observed, tree: ObservedTree): Promise<string> {
  const stateOf = statesOf(tree);
  const children = new Map<string, string[]>(listed.map((path) => [followLinks(path, tree.links).path, []]));
  const seen = new Set<string>();
  for (const { path, mode } of tree.entries)
    for (let at = path; at !== '' && !seen.has(at); at = parentOf(at)) {
      seen.add(at);
      children.get(parentOf(at))?.push(`${at === path ? mode : 'tree'} ${posix.basename(at)}`);
    }
  const states = new Map<string, string>();
  for (const path of [...named, ...listed]) {
    const { path: end, links } = followLinks(path, tree.links);
    for (const one of [path, ...links, end]) states.set(one, stateOf(one));
  }
  const installed: (readonly string[])[] = [];
  for (const path of programs) installed.push([path, (await digestFile(path)) ?? 'absent']);
  const sorted = [...states].sort(([one], [other]) => (one < other ? -1 : 1));
  return canonicalDigest([sorted, [...children].map(([path, names]) => [path, names.sort()]), installed]);
}

function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '' : path.slice(0, at);
}

/** What is at a path of a tree: mode and object, `tree`, or `absent`. */
function statesOf({ entries }: ObservedTree): (path: string) => string {
  const files = new Map(entries.map(({ path, mode, object: id }) => [path, `${mode} ${id}`]));
  const directories = new Set(['']);
  for (const { path } of entries)
    for (let at = parentOf(path); !directories.has(at); at = parentOf(at)) directories.add(at);
  return (path) => files.get(path) ?? (directories.has(path) ? 'tree' : 'absent');
}

const entryShape = object('to be a kept verdict', {
  action: sha256Text,
  files: mapOf('to be files', text(maxJobBytes, 0)),
});

/** A kept verdict that was not verified yet. */
export interface KeptVerdict {
  readonly action: string;
  readonly read: ReadFiles;
}

/** Reads what `writeVerdict` wrote; JOB_REFUSED for any other text. */
export function parseVerdict(kept: string): KeptVerdict {
  const { action, files } = readShape(entryShape, Buffer.from(kept), 'verdict');
  return {
    action,
    read: async (names) =>
      new Map(
        names.flatMap((name) => {
          const found = Object.hasOwn(files, name) ? files[name] : undefined;
          return found === undefined ? [] : [[name, Buffer.from(found, 'base64')]];
        }),
      ),
  };
}

/** A signed result as text; `undefined` if it is too large to keep. */
export function writeVerdict(action: string, files: ReadonlyMap<string, Uint8Array>): string | undefined {
  const encoded = [...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]);
  const kept = canonicalize({ action, files: Object.fromEntries(encoded) });
  return kept.length > maxJobBytes ? undefined : kept;
}

/** A kept verdict that holds for a candidate. */
export interface HeldVerdict extends SignedResult {
  readonly action: string;
  readonly verdict: NonNullable<SignedResult['verdict']>;
}

/** What a kept verdict has to fit. */
export interface VerdictDemands {
  readonly conditions: string;
  /** Whose verdicts count. */
  readonly signers: readonly ListedWorker[];
  readonly tree: ObservedTree;
  readonly maxOutputBytes: number;
  readonly nowMs: number;
  readonly maxAgeMs: number;
}

/**
 * Opens a kept verdict. JOB_REFUSED unless one of the signers signed it under these conditions, over content that the
 * tree and this machine have at all observed paths, and not longer ago than allowed.
 */
export async function readVerdict(
  { action, read }: KeptVerdict,
  demands: VerdictDemands,
): Promise<HeldVerdict> {
  const { conditions, signers, tree, maxOutputBytes, nowMs, maxAgeMs } = demands;
  const found = await openResult(read, { action, maxOutputBytes }, signers);
  const { verdict, observed = Buffer.alloc(0) } = found;
  if (verdict === undefined) throw refused('verdict', 'its signer gave it for one run only');
  if (verdict.conditions !== conditions) throw refused('verdict', 'it was signed under other conditions');
  const age = nowMs - verdict.signedAtMs;
  if (age < 0) throw refused('verdict', 'it was signed at a time that has not come');
  if (age > maxAgeMs) throw refused('verdict', 'it is too old');
  const content = await digestObserved(readShape(observedShape, observed, 'verdict'), tree);
  if (content !== verdict.observed) throw refused('verdict', 'it is about other content');
  return { ...found, action, verdict };
}
