/* The bytes of one run that verification reads, and its commit. */
import type { CarryReader } from '../../core/interfaces/approval.ts';
import type { HashedTree } from '../../core/interfaces/store.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { coAuthorsIn, formatIdentity } from '../../workspace/git/commit-log.ts';
import { objectHash } from '../../workspace/git/git-object.ts';
import type { LedgerFileReader } from '../log/tiles.ts';
import { unavailable } from './report.ts';

/** Where the run tree keeps what is not itself listed in the provenance. */
export const runFiles = { spec: 'spec.json', ...sealPaths } as const;

/** The statement about a test suite, by the encoded id of its check. */
export function testResultPath(check: string): string {
  return `statements/test-result-${check}.sigstore.json`;
}

/** The log proof of a run: the renewed one if there is one. */
export async function readLogProof(readRun: EvidenceSource['readRun']): Promise<Uint8Array | undefined> {
  return (await readRun(runFiles.renewedProof)) ?? readRun(runFiles.proof);
}

/** A file of the run tree; a refusal (`missing`) where it is absent. */
export async function readRequired(source: EvidenceSource, path: string): Promise<Uint8Array> {
  const bytes = await source.readRun(path);
  if (bytes === undefined) throw unavailable('missing', { path });
  return bytes;
}

/** The patch in the content tree; its digest is a subject of the statement. */
export const patchFile = 'patchset.diff';

/** Run files that every provenance must list, besides at least one below `evidence/`. */
export const requiredEvidence = ['patchset.json', 'decision.json', 'decision-input.json'] as const;

/** Artifacts of the candidate, of attempts at Tasks, and of candidates that were sent back, below their names. */
const contentPath = /^(?:task-\d+\/revision-\d+\/attempt-\d+\/|candidate-\d+\/)?artifacts\//;

/** True for a listed name that lives in the content tree (deletable) and not in the run tree (permanent). */
export function isContentPath(path: string): boolean {
  return path === patchFile || contentPath.test(path);
}

/**
 * All data about one run that verification reads, as bytes. It is untrusted: it may be false, incomplete or contain
 * additional data. `undefined` is an absent file; an unreadable store throws.
 */
export interface EvidenceSource {
  /** The commit under test: its full object id and the object's content without git's header. */
  readonly commit: { readonly id: string; readonly raw: Uint8Array };
  /** Every path of the run tree (`refs/ai/runs/<id>`). */
  listRun(): Promise<readonly string[]>;
  readRun(path: string): Promise<Uint8Array | undefined>;
  /** Every path of the content tree (`refs/ai/content/<run>`); empty where there is none. */
  listContent(): Promise<readonly string[]>;
  /** Throws a refusal where the content is elsewhere and cannot be read. */
  readContent(path: string): Promise<Uint8Array | undefined>;
  /**
   * If the repository replaces objects (`refs/replace`, grafts): the replacements that plain git applies to this
   * commit. May be empty.
   */
  readonly replaced?: readonly string[];
  /**
   * Hashes the tree's objects from their bytes, if the repository is available. Git itself trusts the stored object
   * names.
   */
  hashTree?(tree: string): Promise<HashedTree>;
  /**
   * Reads a file of a commit. `undefined` if the repository does not have the commit; `bytes` is absent if the commit
   * has no such file.
   */
  readAt?(commit: string, path: string): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** Authors, co-authors and committers of `base..tip`; empty where the commits are absent. */
  readonly listPeople?: (base: string | null, tip: string) => Promise<readonly string[]>;
  /** Compares candidates of carried approvals, if the repository is available. */
  readonly carry?: CarryReader;
  /** Files of the internal ledger beside this repository, where it has one. */
  readonly readLedger?: LedgerFileReader;
  /** Files of the copy of the proof's log in git, where there is one; it may be newer than `readLedger`. */
  readonly readMirror?: LedgerFileReader;
  /**
   * Snapshot of the log in exported evidence: its checkpoint and hash tiles, without entries. Returns `undefined` if
   * no snapshot was exported.
   */
  readonly readSnapshot?: LedgerFileReader;
}

/** A commit as its own bytes describe it. */
export interface GitCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** `Name <mail>` of the author and of every `Co-authored-by:`. A committer who is not an author is excluded. */
  readonly authors: readonly string[];
  /** Value of each trailer in the last paragraph of the message; a key given twice has several. */
  trailer(key: string): readonly string[];
}

/** Git object id of a commit with that content, in the hash that an id of `like`'s length is made with. */
export function commitIdOf(raw: Uint8Array, like: string): string {
  const format = like.length === 64 ? 'sha256' : 'sha1';
  return objectHash(format, 'commit', raw.length).update(raw).digest('hex');
}

/** Reads tree, parents and trailers of a commit object; `undefined` where it does not begin with a tree. */
export function parseCommit(raw: Uint8Array): GitCommit | undefined {
  const text = Buffer.from(raw).toString('utf8');
  const tree = /^tree ([0-9a-f]{40}|[0-9a-f]{64})\n/.exec(text)?.[1];
  const split = text.indexOf('\n\n');
  if (tree === undefined || split < 0) return undefined;
  const message = text.slice(split + 2).trimEnd();
  const last = message.slice(message.lastIndexOf('\n\n') + 1);
  const trailers = last.split('\n').map((line) => /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line));
  const parents = /^tree [0-9a-f]+\n((?:parent [0-9a-f]+\n)*)/.exec(text)?.[1] ?? '';
  const author = /^author ([^\n]*<[^\n>]*>)/m.exec(text.slice(0, split))?.[1];
  return {
    tree,
    parents: parents.split('\n').flatMap((line) => (line === '' ? [] : [line.slice('parent '.length)])),
    authors: [...(author === undefined ? [] : [author]), ...coAuthorsIn(message).map(formatIdentity)],
    trailer: (key) => trailers.filter((match) => match?.[1] === key).map((match) => match?.[2] ?? ''),
  };
}
