import type { Readable } from 'node:stream';
import type { Environment } from '../../attest/signer/user-config-dir.ts';
import { loadAnchors } from '../../attest/verify/load-anchors.ts';
import type { KeptReaders } from '../../engine/vcs/object-reader.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Place } from '../place.ts';
import { noDemands, type VerifyDemands } from './demands.ts';
import { isPath } from './is-path.ts';
import type { Meaning } from './target-meanings.ts';
import type { VerifiedTarget } from './verified-target.ts';
import { verifyFile } from './verify-file.ts';

/** Who asks, and from where. */
export interface VerifyContext extends Place {
  /** Where the user's own anchors are found. */
  readonly env: Environment;
  /** What `-` is; default: the process's. */
  readonly stdin?: Readable;
  readonly signal?: AbortSignal;
}

/** Verifies each target by the user's own anchors and those given. A repository is opened where one is asked about. */
export async function verifyTargets(
  context: VerifyContext,
  targets: readonly string[],
  demands: VerifyDemands = noDemands,
): Promise<readonly VerifiedTarget[]> {
  const anchors = await loadAnchors(demands.given, context.env);
  let opened: Promise<Repository> | undefined;
  let readers: KeptReaders | undefined;
  const open = (): Promise<Repository> => {
    // A file needs no repository, and starting is most of what verifying one costs.
    opened ??= Promise.all([
      import('../../engine/vcs/repository.ts'),
      import('../../engine/vcs/object-reader.ts'),
    ]).then(async ([{ openRepository }, { keepObjectReaders }]) => {
      readers = keepObjectReaders();
      return readers.keep(await openRepository(context.repoPath ?? context.cwd, { bare: true }));
    });
    return opened;
  };
  const { stdin = process.stdin, signal = new AbortController().signal } = context;
  const files = { cwd: context.cwd, env: context.env, stdin, signal };
  const findSubject = async (ids: readonly string[]): Promise<string | undefined> =>
    (await import('./find-commit.ts')).findCommit(open, ids);
  const verified: VerifiedTarget[] = [];
  try {
    for (const target of targets) {
      const meaning = await understand(context, target, demands.form, open);
      if (meaning.kind === 'file')
        verified.push(...(await verifyFile(files, anchors, demands, findSubject, open, target)));
      else {
        const { verifyTarget } = await import('./verify-target.ts');
        verified.push(await verifyTarget(context, await open(), anchors, demands, target, meaning));
      }
    }
  } finally {
    await readers?.[Symbol.asyncDispose]();
  }
  return verified;
}

/** What is spelled as a path needs no repository to be understood. */
async function understand(
  place: VerifyContext,
  target: string,
  form: VerifyDemands['form'],
  open: () => Promise<Repository>,
): Promise<Meaning> {
  if (form === 'file' || (form === undefined && isPath(target))) return { kind: 'file' };
  const { meaningOf } = await import('./target-meanings.ts');
  return meaningOf(place, target, form, open);
}
