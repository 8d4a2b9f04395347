import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { resolveBase } from '../../../workspace/git/resolve-commit.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { normalisePatch } from '../../../workspace/patch/normalise.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, type Json, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';

export interface JournalLine {
  readonly type: string;
  readonly data: unknown;
}

export interface Answer {
  readonly code: number;
  readonly data?: {
    readonly run_id: string;
    readonly state: string;
    readonly notices?: readonly string[];
    readonly decision?: { readonly type: string; readonly rationale: string; readonly commit_sha?: string };
  };
  readonly error?: { readonly code: string; readonly message: string };
}

/** A run that waits for one person, and whoever attacks it. */
export interface WaitingRun {
  readonly sample: Sample;
  readonly runId: string;
  /** The run's own directory here. */
  readonly directory: string;
  readonly journal: string;
  call(...args: string[]): Promise<Answer>;
  /** Ann, an allowed signer who is no author, approves what is recorded now. */
  approve(): Promise<Answer>;
  lines(): readonly JournalLine[];
  /** Writes a journal whose chain holds, as anybody can. */
  forge(lines: readonly JournalLine[]): void;
  /** The run's candidate with `text` in `path`, and the digest that belongs to it. */
  candidateWith(path: string, text: string): Promise<{ readonly tree: string; readonly digest: string }>;
}

/** A fix with a new test, as a bare diff. */
export const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');

const onePerson: Json = {
  risk: { humanInLoop: { required: true, minApprovers: 1 } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers', required: true }],
    },
  },
};

/** Records as a journal whose chain holds. */
export function chained(lines: readonly JournalLine[]): string {
  let prev = '0'.repeat(64);
  return lines
    .map(({ type, data }, index) => {
      const line = JSON.stringify({ seq: index + 1, at: '2026-01-01T00:00:00Z', type, data, prev });
      prev = sha256Hex(line);
      return `${line}\n`;
    })
    .join('');
}

/** The same records with the answer of a step changed, or added at the end where there was none. */
export function withStep(
  lines: readonly JournalLine[],
  step: string,
  answer: unknown,
): readonly JournalLine[] {
  const forged = { type: 'step-ended', data: { step, answer } };
  const others = lines.filter(
    ({ type, data }) => type !== 'step-ended' || (data as { step?: string }).step !== step,
  );
  return [...others, forged];
}

/** A repository whose policy names Ann as a signer, with more files at its base. */
export function sampleWithAnn(t: Test, files: Readonly<Record<string, string>> = {}): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const key = join(sample.home, 'ann.key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', key]);
  const [type, base64] = readFileSync(`${key}.pub`, 'utf8').split(' ');
  mkdirSync(join(sample.root, '.writ', 'trust'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'allowed_signers'), `ann@sample.example ${type} ${base64}\n`);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(sample.root, path), text);
  sample.git('add', '--all', '--force', '.writ');
  sample.git('commit', '--quiet', '-m', 'Policy');
  return sample;
}

export function callIn(t: Test, sample: Sample, root = sample.root, home = sample.home) {
  return async (...args: string[]): Promise<Answer> => {
    const env = { ...sample.env, HOME: home, PATH: process.env.PATH ?? '' };
    const { code, out, err } = await runLine([...args, '--json'], commands, { cwd: root, env });
    t.notMatch(`${out}${err}`, /^\s+at /m, 'no stack trace');
    return { code, ...JSON.parse(out) };
  };
}

/** A run that waits for Ann. */
export async function waitingRun(
  t: Test,
  sample = sampleWithAnn(t),
  { baseRef = 'main', onto, range }: Readonly<Partial<Record<'baseRef' | 'onto' | 'range', string>>> = {},
): Promise<WaitingRun> {
  const call = callIn(t, sample);
  const spec = join(sample.home, 'spec.json');
  const merged = JSON.parse(sampleSpec(onePerson).toString('utf8'));
  merged.metadata.target.baseRef = baseRef;
  writeFileSync(spec, JSON.stringify(merged));
  const change = range === undefined ? ['--patch', fix] : ['--range', range];
  const ran = await call('run', spec, ...change, ...(onto === undefined ? [] : ['--onto', onto]));
  t.equal(ran.code, 4, ran.error?.message ?? '');
  const runId = ran.data?.run_id ?? '';
  const directory = join(sample.root, '.git', 'writ', 'runs', runId);
  const journal = join(directory, 'journal.jsonl');
  const lines = (): readonly JournalLine[] =>
    readFileSync(journal, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalLine);
  return {
    sample,
    runId,
    directory,
    journal,
    call,
    lines,
    approve: () =>
      call('approve', runId, '--key', join(sample.home, 'ann.key'), '--as', 'ann@sample.example'),
    forge: (forged) => writeFileSync(journal, chained(forged)),
    async candidateWith(path, text) {
      const index = join(sample.home, 'index');
      const env = { ...sample.env, GIT_INDEX_FILE: index };
      const git = (args: readonly string[], input = ''): string =>
        spawnSync('git', args, { cwd: sample.root, env, input, encoding: 'utf8' }).stdout.trim();
      const [first] = lines() as [JournalLine];
      git(['read-tree', (first.data as { candidate: { tree: string } }).candidate.tree]);
      const blob = git(['hash-object', '-w', '--stdin'], text);
      git(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`]);
      const tree = git(['write-tree']);
      rmSync(index, { force: true });
      const repository = await openRepository(sample.root);
      const scratch = await createScratch(join(sample.home, 'scratch'), repository);
      const base = await resolveBase(repository, sample.git('rev-parse', 'main'));
      return { tree, digest: (await normalisePatch(scratch, base, tree)).digest };
    },
  };
}

/** The whole of a run's own directory, as it stood. */
export function snapshot({ directory, sample }: WaitingRun): () => void {
  const copy = mkdtempSync(join(sample.home, 'copy-'));
  cpSync(directory, copy, { recursive: true });
  return () => {
    rmSync(directory, { recursive: true });
    cpSync(copy, directory, { recursive: true });
  };
}
