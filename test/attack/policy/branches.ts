import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { Attestor } from '../../../core/interfaces/sealing.ts';
import { runIntent } from '../../../engine/run.ts';
import type { RunRequest } from '../../../engine/state/run-request.ts';
import { fixtures, type Json, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';

/** The sample's fix: prices are exact, and a test shows it. */
export const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

/** A gate that nothing passes, as a repository adds it after a branch was made. */
export const gate = '[factors.audit]\nchecks = [{ id = "audit", stage = "fast", command = "false" }]\n';

/** A repository on `main`, with the branch `feature` one commit ahead that makes the fix; checked out is `main`. */
export function makeBranches(t: Test): Branches {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(sample.root, path)), { recursive: true });
    writeFileSync(join(sample.root, path), text);
  };
  const commit = (path: string, text: string, message = `Changes ${path}`): string => {
    write(path, text);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', message);
    return sample.git('rev-parse', 'HEAD');
  };
  const start = sample.git('rev-parse', 'HEAD');
  writeFileSync(join(sample.home, 'fix.diff'), fix);
  sample.git('checkout', '--quiet', '-b', 'feature');
  sample.git('apply', join(sample.home, 'fix.diff'));
  sample.git('commit', '--quiet', '--all', '-m', 'Exact prices\n\nThey were one cent too high.');
  sample.git('checkout', '--quiet', 'main');
  return { sample, start, write, commit };
}

export interface Branches {
  readonly sample: Sample;
  /** Where `feature` was made. */
  readonly start: string;
  write(path: string, text: string): void;
  /** A commit on the branch that is checked out; its id. */
  commit(path: string, text: string, message?: string): string;
}

export const audited: { readonly [key: string]: Json } = { risk: { factors: ['audit'] } };
export const feature = { kind: 'range', range: 'main..feature' } as const;

/**
 * Runs with an attestor that does something first when it is asked to sign: the last moment before the branch moves.
 */
export async function runWhile(
  sample: Sample,
  request: Partial<RunRequest> & Pick<RunRequest, 'source'>,
  spec: Json,
  meanwhile: () => void,
): Promise<RunView> {
  await using engine = await sample.engine();
  const attestor: Attestor = {
    ...engine.attestor,
    sign: async (...asked) => {
      meanwhile();
      return engine.attestor.sign(...asked);
    },
  };
  return await runIntent(
    { ...engine, attestor },
    {
      repositoryPath: sample.root,
      specBytes: sampleSpec(spec),
      sandbox: 'auto',
      schedulerVersion: '0.0.0-test',
      clock: systemClock,
      signal: new AbortController().signal,
      ...request,
    },
  );
}
