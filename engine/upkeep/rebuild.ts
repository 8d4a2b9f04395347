/* `writ fsck --rebuild`: restores what can be derived from intact data. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { applyDefaults } from '../../spec/document-schema.ts';
import { toJson } from '../../store/record/record-paths.ts';
import { inTemporary } from '../../store/remove-litter.ts';
import { type Problem, parseObject } from '../../store/stored-object.ts';
import { openStores, type Stores } from '../../store/stores.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { objectId } from '../../workspace/git/git-object.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { createScratch } from '../../workspace/git/scratch.ts';
import { listRecordTree } from '../../workspace/git/tree.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { decide } from '../decide/decide.ts';
import type { DecisionInput } from '../record/decision-input.ts';
import { patchContentPath } from '../record/settle-run.ts';

interface RebuildRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  readonly problems: readonly Problem[];
  /** Writes the tiles of the ledger again from its entries; returns the written paths. */
  readonly rebuildLedger: () => Promise<readonly string[]>;
  /** Writes the index of threads again from their journals; returns the written paths. */
  readonly rebuildThreads: () => Promise<readonly string[]>;
}

/**
 * Restores a decision record from its input, the effective document from the spec, a patch from the commit that it
 * became, a plan's ref from the run, the ledger's tiles from its entries, the index of threads from their journals.
 * An object is restored only if the bytes are exactly the missing ones. Returns what was restored.
 */
export async function rebuild(request: RebuildRequest): Promise<readonly string[]> {
  const { repository, problems } = request;
  await using readers = keepObjectReaders();
  readers.keep(repository);
  const restored: string[] = [];
  for (const problem of problems) {
    if (problem.object !== undefined && (await restoreObject(repository, problem.where, problem.object)))
      restored.push(problem.where);
    else if (problem.code === 'reference-missing' && (await restorePlan(request, problem)))
      restored.push(problem.where);
  }
  if (problems.some(({ code }) => code === 'thread-index'))
    restored.push(...(await request.rebuildThreads()));
  if (problems.some(({ code }) => code === 'ledger-tile')) {
    try {
      restored.push(...(await request.rebuildLedger()).map((path) => `ledger:${path}`));
    } catch (fault) {
      if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
    }
  }
  return restored;
}

/** True if `rebuild` may restore this. */
export function mayRestore({ code, where, object, namedBy }: Problem): boolean {
  if (code === 'thread-index' || code === 'ledger-tile') return true;
  if (object !== undefined) return isDerived(where.slice(where.indexOf(':') + 1));
  return code === 'reference-missing' && namedBy !== undefined && where.includes('/plans/');
}

/** Files that `derive` can make. */
function isDerived(path: string): boolean {
  return path.endsWith('decision-record.json') || path === 'effective.json' || path === patchContentPath;
}

async function restoreObject(repository: Repository, where: string, object: string): Promise<boolean> {
  const at = where.indexOf(':');
  if (at < 0) return false;
  const bytes = await derive(repository, where.slice(0, at), where.slice(at + 1)).catch((fault) => {
    // Its source is damaged, too.
    if (isWritError(fault)) return undefined;
    throw fault;
  });
  if (bytes === undefined || objectId(repository.objectFormat, 'blob', bytes) !== object) return false;
  const loose = join(repository.objectsDir, object.slice(0, 2), object.slice(2));
  const isFile = await lstat(loose).then(
    (found) => found.isFile(),
    () => false,
  );
  // git does not write an object that it believes to have.
  if (isFile) await rm(loose, { force: true });
  return (await gitLine(repository, ['hash-object', '-w', '--stdin'], { input: bytes })) === object;
}

async function derive(repository: Repository, ref: string, path: string): Promise<Uint8Array | undefined> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const json = async (name: string): Promise<unknown> => {
    const bytes = await readBlob(repository, ref, name);
    return bytes && parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes: 64 * 1024 * 1024 }).value;
  };
  if (path.endsWith('decision-record.json')) {
    const input = await json(`${folder}decision-input.json`);
    return input === undefined ? undefined : toJson(decide(input as DecisionInput));
  }
  if (path === 'effective.json') {
    const spec = await json('spec.json');
    return spec === undefined ? undefined : toJson(applyDefaults(spec as IntentSpec));
  }
  if (path === patchContentPath) return derivePatch(repository, ref.replace('/content/', '/runs/'));
  return undefined;
}

async function derivePatch(repository: Repository, runRef: string): Promise<Uint8Array | undefined> {
  const bytes = await readBlob(repository, runRef, 'patchset.json');
  if (bytes === undefined) return undefined;
  const patchset = parseObject('patchset', bytes);
  const base = { commit: patchset.base_commit ?? undefined, tree: patchset.base_tree };
  return inTemporary(repository, async (directory) => {
    const scratch = await createScratch(directory, repository);
    return (await normalisePatch(scratch, base, patchset.candidate_tree)).diff;
  });
}

/** The record of the run contains everything that a plan's ref has. */
async function restorePlan(
  { stores, repository, clock }: RebuildRequest,
  { where, namedBy: run }: Problem,
): Promise<boolean> {
  if (run === undefined || !where.includes('/plans/')) return false;
  const paths = (await listRecordTree(repository, run, where))
    .map(({ path }) => path)
    .filter((path) => path === 'plan.json' || path.startsWith('tasks/'));
  const files: [string, Uint8Array][] = [];
  for (const path of paths) {
    const bytes = await readBlob(repository, run, path);
    if (bytes) files.push([path, bytes]);
  }
  if (!paths.includes('plan.json') || files.length < paths.length) return false;
  // A store outside of git has its own plans.
  const store = (await openStores(stores, repository, clock)).find(({ beside }) => beside === undefined);
  if (store === undefined) return false;
  await store.objects.writeTree(where, {
    message: 'writ: plan restored',
    keepExisting: false,
    expectedOld: null,
    files,
  });
  return true;
}
