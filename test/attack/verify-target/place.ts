import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample, type Sample } from '../../engine/sample.ts';

/** What the command line answered. */
export interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at by `match`.
  readonly data?: any;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hints?: readonly string[];
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    readonly details?: any;
  };
  readonly err: string;
}

/** A repository with one change that was really run and sealed: `main` is sealed, `base` is not. */
export interface SealedPlace {
  readonly sample: Sample;
  readonly runId: string;
  readonly commit: string;
  readonly base: string;
  verify(...args: readonly string[]): Promise<Answer>;
}

const quick = {
  id: 'quick',
  kind: 'command',
  command: 'true',
  required: true,
  timeoutSeconds: 30,
  artifactsProduced: ['test-log'],
};

export async function sealedPlace(): Promise<SealedPlace> {
  const sample = makeSample();
  const base = sample.git('rev-parse', 'HEAD');
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const view = await sample.run(
    { source: { kind: 'patch', bytes } },
    { acceptance: { verificationPlan: { fastChecks: [quick] } } },
  );
  const commit = view.decision?.commitSha;
  if (commit === undefined)
    throw new Error(`the sample run was not committed: ${view.decision?.rationale ?? view.state}`);
  return {
    sample,
    runId: view.runId,
    commit,
    base,
    verify: async (...args) => {
      const options = { cwd: sample.root, env: sample.env };
      const { code, out, err } = await runLine(['--json', 'verify', ...args], commands, options);
      return { code, err, ...JSON.parse(out) };
    },
  };
}
