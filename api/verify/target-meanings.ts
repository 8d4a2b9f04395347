/* Decides whether a target of `writ verify` names a file, a commit or a run. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseAnyBundle } from '../../attest/bundle/any-bundle.ts';
import { preAuthEncoding } from '../../attest/encoding/dsse.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { FindRun } from '../../store/record/list-records.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import {
  commitsNamed,
  damagedCommit,
  isRevision,
  resolveCommit,
} from '../../workspace/git/resolve-commit.ts';

/** True for what is spelled as a path, which no ref can be, and for stdin. */
export function isPath(target: string): boolean {
  return /^(?:-$|\.{0,2}\/)/.test(target);
}

/** Kinds that a user can choose for a target (`--commit`, `--run`, `--file`). */
export type TargetForm = 'commit' | 'run' | 'file';

/** One possible meaning of a target. `as` is an unambiguous name for it. */
export type Meaning =
  | { readonly kind: 'file' }
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'commit'; readonly commit: string; readonly as: string };

/**
 * Ends as files of attestations do: a closed list, since a version or branch may end in any other word (`v2.0.rc1`,
 * `release/2.x`).
 */
export const fileForm = /\.(?:jsonl?|tlog-proof|sigstore|bundle|intoto|dsse|att|attestation|provenance)$/;
/** Extensions that mark a target as a file even if the file does not exist. */
const attestationForm = /\.(?:jsonl?|tlog-proof)$/;

/**
 * Resolves a target to its single meaning. TARGET_AMBIGUOUS lists all meanings if there are several: file and ref,
 * tag and branch, prefix of a run and of a commit.
 *
 * If a name could also be a ref, it is a file only on request (`--file`, `./NAME`). Otherwise a contributor who adds
 * a file could change the meaning of a name. `HEAD` and `@` always mean the commit.
 */
export async function meaningOf(
  cwd: string,
  target: string,
  form: TargetForm | undefined,
  open: () => Promise<Repository>,
  findRun: FindRun,
): Promise<Meaning> {
  if (form === 'file' || (form === undefined && isPath(target))) return { kind: 'file' };
  const isSpelledAsFile = fileForm.test(target);
  let repository: Repository;
  try {
    repository = await open();
  } catch (fault) {
    if (form === undefined && isSpelledAsFile && isWritError(fault)) return { kind: 'file' };
    throw fault;
  }
  const hasFile = form === undefined && isFile(repository, resolve(cwd, target), target);
  const meanings: readonly Meaning[] = [
    ...(hasFile ? [{ kind: 'file' } as const] : []),
    ...(form === 'commit' ? [] : await runsNamed(findRun, target)),
    ...(form === 'run' ? [] : await commits(repository, target)),
  ];
  const [meaning, ...more] = meanings;
  if (meaning === undefined) return nothingNamed(repository, target, form);
  if (more.length > 0) throw ambiguous(target, meanings);
  if (meaning.kind === 'file' && !isSpelledAsFile) throw onlyAFile(target);
  return meaning;
}

/** Git's internal files, such as `HEAD` in a bare repository, are not targets. */
function isFile({ gitDir, commonDir }: Repository, path: string, target: string): boolean {
  if (target === 'HEAD' || target === '@') return false;
  if ([gitDir, commonDir].some((directory) => path.startsWith(`${directory}/`))) return false;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (fault) {
    // What no file can be called names none.
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENAMETOOLONG') return false;
    throw fault;
  }
}

async function commits(repository: Repository, target: string): Promise<readonly Meaning[]> {
  if (!isRevision(target)) return [];
  return (await commitsNamed(repository, target)).map((named) => ({ kind: 'commit', ...named }));
}

async function runsNamed(findRun: FindRun, target: string): Promise<readonly Meaning[]> {
  try {
    const { runId } = await findRun(target);
    return [{ kind: 'run', runId }];
  } catch (fault) {
    if (!isWritError(fault, 'RUN_NOT_FOUND')) throw fault;
    const fits = Array.isArray(fault.detail.fits) ? fault.detail.fits : [];
    return fits.map((id) => ({ kind: 'run', runId: String(id) }));
  }
}

async function nothingNamed(
  repository: Repository,
  target: string,
  form: TargetForm | undefined,
): Promise<Meaning> {
  // A run that is missing here is not refuted; the verdict explains how to fetch it.
  if (form === 'run') return { kind: 'run', runId: target };
  if (form === undefined && attestationForm.test(target)) return { kind: 'file' };
  const damaged = await damagedCommit(repository, target);
  if (damaged !== undefined) return { kind: 'commit', commit: damaged, as: target };
  // Throws with the reason: no such commit, or an invalid name.
  return { kind: 'commit', commit: await resolveCommit(repository, target), as: target };
}

function onlyAFile(target: string): WritError {
  const shown = printable(target);
  return new WritError('USAGE', {
    message: `\`${shown}\` is neither a commit nor a run in this repository`,
    detail: { command: 'verify', found: shown },
    hints: [`to verify the file of that name: \`--file ${shown}\`, or \`./${shown}\``],
  });
}

function ambiguous(target: string, meanings: readonly Meaning[]): WritError {
  const shown = printable(target);
  return new WritError('TARGET_AMBIGUOUS', {
    message: `\`${shown}\` has ${meanings.length} meanings here: ${meanings.map(sayMeaning).join(', ')}`,
    detail: {
      target: shown,
      found: meanings.map(sayMeaning),
      meanings: meanings.map((one) =>
        one.kind === 'commit'
          ? { kind: one.kind, commit_sha: one.commit, named: printable(one.as) }
          : one.kind === 'run'
            ? { kind: one.kind, run_id: one.runId }
            : { kind: one.kind, path: shown },
      ),
    },
  });
}

function sayMeaning(meaning: Meaning): string {
  if (meaning.kind === 'file') return 'the file of that name';
  if (meaning.kind === 'run') return `run ${meaning.runId}`;
  return `commit ${meaning.commit} (${printable(meaning.as)})`;
}

/**
 * SHA-256, hex, of what the signature of an attestation covers: that is what a log holds of it. `undefined` for what is
 * no attestation.
 */
export function digestOfSigned(bytes: Uint8Array): string | undefined {
  try {
    const { content } = parseAnyBundle(bytes);
    if (content.kind === 'message') return content.digest.toString('hex');
    return sha256Hex(preAuthEncoding(content.payloadType, content.payload));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_NOTHING')) return undefined;
    throw fault;
  }
}
