/* Verifies all targets of one command with the user's anchors. */
import type { Readable } from 'node:stream';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { userCheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import { type GivenAnchors, loadAnchors } from '../../attest/verify/anchors.ts';
import { maxEvidenceFileBytes } from '../../attest/verify/evidence-file.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import type { Place } from '../../store/stores.ts';
import { type InputSource, readInput } from '../read-input.ts';
import { type Belief, noDemands, type VerifyDemands } from './demands.ts';
import { type LazyRepository, lazyRepository } from './lazy-repository.ts';
import type { Meaning } from './target-meanings.ts';
import { isPath } from './target-meanings.ts';
import { type VerifiedTarget, withRequestedCommit } from './verified-target.ts';
import { verifyBytes } from './verify-bytes.ts';

/** Environment of a verification. */
export interface VerifyContext extends Place {
  /** Where the user's own anchors are found. */
  readonly env: Environment;
  /** What `-` is; default: the process's. */
  readonly stdin?: Readable;
  readonly signal?: AbortSignal;
}

/** Demands of the user, and trust anchors besides the user's own. */
export interface RequestedDemands extends VerifyDemands {
  readonly given?: GivenAnchors;
  /** The commit that every target must be about (`--subject-commit`): a full id, or a name in the repository. */
  readonly subjectCommit?: string;
}

/**
 * Verifies each target with the user's own anchors and the given ones. Opens a repository only if a target needs it.
 * INPUT_UNREADABLE, INPUT_TOO_LARGE.
 */
export async function verifyTargets(
  context: VerifyContext,
  targets: readonly string[],
  demands: RequestedDemands = noDemands,
): Promise<readonly VerifiedTarget[]> {
  const { env, cwd, signal = new AbortController().signal } = context;
  await using repository = lazyRepository(context);
  const { form } = demands;
  // Opens the repository while anchors load; an error is reported when a target needs the repository.
  if (targets.some((target) => !isSpelledAsFile(target, form))) repository.open().catch(() => {});
  const anchors = await loadAnchors(demands.given ?? { keyFiles: [], ledgerKeys: [] }, env);
  const belief: Belief = { anchors, memory: userCheckpointMemory(env) };
  const asked = await askedCommit(cwd, demands.subjectCommit, repository);
  const verified: (readonly VerifiedTarget[])[] = targets.map(() => []);
  const files: number[] = [];
  for (const [n, target] of targets.entries()) {
    const range = await expandRange(cwd, target, form, repository);
    if (range !== undefined) {
      const found = await verifyRange(belief, demands, target, range, repository, signal);
      verified[n] = found.map((one) => withRequestedCommit(one, asked));
      continue;
    }
    const meaning = await understand(cwd, target, form, repository);
    if (meaning.kind === 'file') {
      files.push(n);
      continue;
    }
    const { verifyTarget } = await import('./verify-target.ts');
    const { open, findRun } = repository;
    const found = await verifyTarget(belief, await open(), demands, target, meaning, findRun);
    verified[n] = [withRequestedCommit(found, asked)];
  }
  // A file next to commit targets must be about one of them, unless an artifact names the subject.
  const beside = verified.flat().flatMap(({ commit }) => commit ?? []);
  const commits = asked ?? (beside.length > 0 && demands.artifacts.length === 0 ? beside : undefined);
  for (const n of files) {
    const target = targets[n] ?? '';
    const bytes = await readInput(inputOf(context, signal), target, { maxBytes: maxEvidenceFileBytes });
    const demanded = commits === undefined ? demands : { ...demands, commits };
    verified[n] = await verifyBytes(belief, demanded, repository, target, bytes, signal);
  }
  return verified.flat();
}

/** The commits of a target `A..B`, or why they cannot be listed; `undefined` for any other target. */
async function expandRange(
  cwd: string,
  target: string,
  form: VerifyDemands['form'],
  { open, findRun }: LazyRepository,
): Promise<readonly string[] | VerifyReport | undefined> {
  if (form === 'run' || isSpelledAsFile(target, form) || !target.includes('..')) return undefined;
  const { fileForm, meaningOf } = await import('./target-meanings.ts');
  if (form === undefined && fileForm.test(target)) return undefined;
  const { commitsBetween, rangeEnds } = await import('./find-commit.ts');
  const ends = rangeEnds(target);
  if (ends === undefined) return undefined;
  const ids: string[] = [];
  for (const end of [ends.from, ends.to]) {
    const meaning = await meaningOf(cwd, end, 'commit', open, findRun);
    if (meaning.kind === 'commit') ids.push(meaning.commit);
  }
  const [from = '', to = ''] = ids;
  return commitsBetween(await open(), target, from, to);
}

/** One verdict for each commit of a range; a range that cannot be listed is one target. */
async function verifyRange(
  belief: Belief,
  demands: RequestedDemands,
  range: string,
  found: readonly string[] | VerifyReport,
  { open, findRun }: LazyRepository,
  signal: AbortSignal,
): Promise<readonly VerifiedTarget[]> {
  if ('checks' in found) return [{ target: range, kind: 'run', report: found }];
  const { verifyTarget } = await import('./verify-target.ts');
  const repository = await open();
  const verified: VerifiedTarget[] = [];
  for (const commit of found) {
    signal.throwIfAborted();
    const meaning = { kind: 'commit', commit, as: commit } as const;
    verified.push({
      ...(await verifyTarget(belief, repository, demands, commit, meaning, findRun)),
      range,
    });
  }
  return verified;
}

/** The id of the commit that `--subject-commit` names; a full id needs no repository. */
async function askedCommit(
  cwd: string,
  name: string | undefined,
  { open, findRun }: LazyRepository,
): Promise<readonly string[] | undefined> {
  if (name === undefined) return undefined;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name)) return [name];
  const { meaningOf } = await import('./target-meanings.ts');
  const meaning = await meaningOf(cwd, name, 'commit', open, findRun);
  return meaning.kind === 'commit' ? [meaning.commit] : undefined;
}

/** Making the stream of the process's input costs more than reading a file; so it is made where it is read. */
function inputOf(context: VerifyContext, signal: AbortSignal): InputSource {
  return {
    cwd: context.cwd,
    signal,
    get stdin() {
      return context.stdin ?? process.stdin;
    },
  };
}

/** What is spelled as a path needs no repository to be understood. */
function isSpelledAsFile(target: string, form: VerifyDemands['form']): boolean {
  return form === 'file' || (form === undefined && isPath(target));
}

async function understand(
  cwd: string,
  target: string,
  form: VerifyDemands['form'],
  { open, findRun }: LazyRepository,
): Promise<Meaning> {
  if (isSpelledAsFile(target, form)) return { kind: 'file' };
  const { meaningOf } = await import('./target-meanings.ts');
  return meaningOf(cwd, target, form, open, findRun);
}
