/* Verifies all git objects below the refs of writ. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundAt } from '../../store/stored-object.ts';
import { type GitDirectory, maxListBytes, runGit } from '../../workspace/git/git.ts';
import { halving, readEach, readHeads } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { maxRecordEntries } from '../../workspace/git/tree.ts';
import { type FileFacts, type ManifestReader, readFacts } from './object-facts.ts';
import type { StoredRef } from './stored-ref.ts';
import { type BrokenObject, isItself, type WalkedCommit, walkTrees } from './walk-trees.ts';

/** The objects below our refs, all hashed again. */
export interface GitFindings {
  /** By commit. */
  readonly walked: ReadonlyMap<string, WalkedCommit>;
  /** By blob id; absent for one that could not be read. */
  readonly facts: ReadonlyMap<string, FileFacts>;
  /** Each problem once, with every place that needs the object. */
  readonly problems: readonly FoundAt[];
  /** Commits that could not be read, or something below them. */
  readonly damaged: ReadonlySet<string>;
  readonly objects: number;
}

const shownPlaces = 3;

/** Hashes everything below the refs: the newest versions file by file, older ones object by object. */
export async function checkGitObjects(
  repository: Repository,
  refs: readonly StoredRef[],
  readManifest?: ManifestReader,
): Promise<GitFindings> {
  const byCommit = new Map<string, StoredRef[]>();
  for (const ref of refs) byCommit.set(ref.object, [...(byCommit.get(ref.object) ?? []), ref]);
  const broken = new Map<string, { readonly type: BrokenObject['type']; readonly places: Place[] }>();
  const damaged = new Set<string>();
  const note = ({ object, type }: BrokenObject, places: readonly Place[]): void => {
    const known = broken.get(object) ?? { type, places: [] };
    known.places.push(...places);
    broken.set(object, known);
    for (const { commit } of places) damaged.add(commit);
  };
  const tooLarge = new Set<string>();
  const walked = await walkTrees(repository, [...byCommit.keys()], {
    verify: true,
    broken: note,
    tooLarge: (commit) => tooLarge.add(commit),
  });

  const holders = new Map<string, Place[]>();
  for (const { id, files } of walked.values()) {
    for (const [path, blob] of files) {
      const places = holders.get(blob);
      if (places) places.push({ commit: id, path });
      else holders.set(blob, [{ commit: id, path }]);
    }
  }
  const facts = new Map<string, FileFacts>();
  await readBlobFacts(repository, holders, byCommit, note, facts, readManifest);
  const older = await checkOlder(repository, refs, walked, new Set(holders.keys()), note);

  const problems: FoundAt[] = [];
  for (const [object, { type, places }] of broken) {
    const loose = join(repository.objectsDir, object.slice(0, 2), object.slice(2));
    const isThere = existsSync(loose);
    const named = places.flatMap(({ commit, path }) =>
      (byCommit.get(commit) ?? []).map(({ ref }) => (path === '' ? ref : `${ref}:${path}`)),
    );
    const shown = named.slice(0, shownPlaces).map((place) => `\`${place}\``);
    const more = named.length > shownPlaces ? ` and ${named.length - shownPlaces} more` : '';
    problems.push({
      code: isThere ? 'object-corrupt' : 'object-missing',
      where: named[0] ?? older.whereOf(object),
      what: `${type} ${object} ${isThere ? 'is damaged' : 'is not there, or git cannot read it'}; ${shown.length > 0 ? `needed by ${shown.join(', ')}${more}` : 'needed by an older version'}`,
      object,
      refs: [
        ...new Set([
          ...places.flatMap(({ commit }) => (byCommit.get(commit) ?? []).map(({ ref }) => ref)),
          ...older.refsOf(object),
        ]),
      ],
    });
  }
  for (const [blob, { problem }] of facts) {
    if (problem === undefined) continue;
    for (const { commit, path } of holders.get(blob) ?? []) {
      for (const { ref } of byCommit.get(commit) ?? [])
        problems.push({ code: 'object-malformed', where: `${ref}:${path}`, what: problem, refs: [ref] });
    }
  }
  for (const commit of tooLarge) {
    const what = `its tree names more than ${maxRecordEntries} entries; nothing below it was checked`;
    for (const { ref } of byCommit.get(commit) ?? [])
      problems.push({ code: 'object-malformed', where: ref, what, object: commit, refs: [ref] });
    damaged.add(commit);
  }
  problems.push(...older.problems);
  return { walked, facts, problems, damaged, objects: walked.size + holders.size + older.objects };
}

interface Place {
  readonly commit: string;
  readonly path: string;
}

async function readBlobFacts(
  repository: Repository,
  holders: ReadonlyMap<string, readonly Place[]>,
  byCommit: ReadonlyMap<string, readonly StoredRef[]>,
  note: (found: BrokenObject, places: readonly Place[]) => void,
  facts: Map<string, FileFacts>,
  readManifest?: ManifestReader,
): Promise<void> {
  const heads = await readHeads(repository, holders.keys());
  await readEach(repository, holders.keys(), heads, (id, object) => {
    const places = holders.get(id) ?? [];
    if (object?.type !== 'blob' || !isItself(repository, id, 'blob', object.bytes))
      return note({ object: id, type: 'blob' }, places);
    const isRecord = places.some(({ commit }) =>
      (byCommit.get(commit) ?? []).some(({ kind }) => isRecordKind(kind)),
    );
    facts.set(id, readFacts(places[0]?.path ?? '', object.bytes, isRecord, readManifest));
  });
}

/** Other refs hold content of any shape. */
function isRecordKind(kind: StoredRef['kind']): boolean {
  return kind === 'run' || kind === 'intent' || kind === 'plan' || kind === 'approval';
}

interface OlderVersions {
  readonly objects: number;
  readonly problems: readonly FoundAt[];
  whereOf(object: string): string;
  refsOf(object: string): readonly string[];
}

/** Earlier versions of records, each object once. Content has no history that counts. */
async function checkOlder(
  repository: Repository,
  refs: readonly StoredRef[],
  walked: ReadonlyMap<string, WalkedCommit>,
  seenBlobs: ReadonlySet<string>,
  note: (found: BrokenObject, places: readonly Place[]) => void,
): Promise<OlderVersions> {
  const owner = new Map<string, string>();
  const problems: FoundAt[] = [];
  const records = refs.filter(({ kind, object }) => isRecordKind(kind) && walked.has(object));
  await listOlder(repository, records, owner, problems);
  for (const tip of walked.keys()) owner.delete(tip);
  const place = new Map<string, string>();
  const older = await walkTrees(repository, [...owner.keys()], {
    verify: true,
    once: true,
    broken: (found, holders) => {
      for (const { commit } of holders) place.set(found.object, owner.get(commit) ?? '');
      note(found, []);
    },
  });
  const blobs = new Map<string, string>();
  for (const { id, files } of older.values())
    for (const blob of files.values()) if (!seenBlobs.has(blob)) blobs.set(blob, owner.get(id) ?? '');
  await readEach(repository, blobs.keys(), await readHeads(repository, blobs.keys()), (id, object) => {
    if (object?.type === 'blob' && isItself(repository, id, 'blob', object.bytes)) return;
    place.set(id, blobs.get(id) ?? '');
    note({ object: id, type: 'blob' }, []);
  });
  return {
    objects: older.size + blobs.size,
    problems,
    whereOf: (object) => place.get(object) ?? '',
    refsOf: (object) => (place.has(object) ? [place.get(object) ?? ''] : []),
  };
}

/** Earlier commits by the ref that they belong to; a history that git cannot follow is a problem of its ref. */
async function listOlder(
  place: GitDirectory,
  refs: readonly StoredRef[],
  owner: Map<string, string>,
  problems: FoundAt[],
): Promise<void> {
  await halving(
    refs,
    async (some) => {
      const listed = await runGit(
        place,
        [
          'rev-list',
          '--first-parent',
          '--parents',
          '--not',
          '--branches',
          '--tags',
          '--remotes',
          '--not',
          '--stdin',
        ],
        { input: some.map(({ object }) => `${object}\n`).join(''), maxBytes: maxListBytes },
      );
      const parents = new Map<string, string>();
      for (const line of listed.toString('utf8').split('\n')) {
        const [commit = '', parent] = line.split(' ');
        if (parent !== undefined) parents.set(commit, parent);
      }
      for (const { ref, object } of some) {
        for (let at = parents.get(object); at !== undefined && !owner.has(at); at = parents.get(at))
          owner.set(at, ref);
      }
    },
    ({ ref }, fault) => {
      const what = `an earlier version of it is missing or damaged: ${fault.message}`;
      problems.push({ code: 'object-missing', where: ref, what, refs: [ref] });
    },
  );
}
