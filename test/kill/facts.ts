import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a run came to, without ids, times and digests: the same however often it was stopped. */
export interface Facts {
  readonly decision: string;
  readonly rationale: string;
  readonly stages: readonly string[];
  readonly checks: readonly string[];
  readonly findings: readonly string[];
  readonly artifacts: readonly string[];
  /** Names in the run record and in its content. */
  readonly recorded: readonly string[];
  readonly tree: string;
  readonly commitsOnTarget: string;
  readonly runOfCommit: boolean;
  readonly head: boolean;
  readonly ledgerSize: string;
  readonly status: string;
  readonly fsck: string;
}

interface Here {
  readonly repo: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Shown {
  readonly data: {
    readonly decision?: { readonly type: string; readonly rationale: string; readonly commit_sha?: string };
    readonly stages: readonly {
      readonly stage: string;
      readonly status: string;
      readonly expected: number;
      readonly ran: number;
      readonly checks: readonly {
        readonly id: string;
        readonly status: string;
        readonly exit_code?: number;
        readonly artifacts: readonly { readonly name: string; readonly stage: string }[];
      }[];
    }[];
    readonly findings: readonly { readonly rule: string; readonly path?: string }[];
    readonly artifacts: readonly { readonly stage: string; readonly name: string }[];
  };
}

/** Reads them with `writ show` and plain git. */
export async function readFacts(
  here: Here,
  runId: string,
  ask: (
    args: readonly string[],
  ) => Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>,
): Promise<Facts> {
  const { code, out, err } = await ask(['show', runId]);
  if (code !== 0) throw new Error(`\`writ show\` answered ${code}: ${out}${err}`);
  const { data } = JSON.parse(out) as Shown;
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: here.repo,
      env: here.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const names = (ref: string): readonly string[] =>
    git('ls-tree', '-r', '--name-only', ref)
      .split('\n')
      .map((name) => `${ref.split('/')[2]}:${withoutIds(name)}`);
  const commit = git('rev-parse', 'refs/heads/main');
  return {
    decision: data.decision?.type ?? 'none',
    rationale: data.decision?.rationale ?? '',
    stages: data.stages.map(({ stage, status, expected, ran }) => `${stage} ${status} ${ran}/${expected}`),
    checks: data.stages.flatMap(({ stage, checks }) =>
      checks.map(
        (one) =>
          `${stage}/${one.id} ${one.status} ${one.exit_code} ${one.artifacts.map(({ name }) => name).join()}`,
      ),
    ),
    findings: data.findings.map(({ rule, path }) => `${rule} ${path ?? ''}`).sort(),
    artifacts: data.artifacts.map(({ stage, name }) => `${stage}/${name}`).sort(),
    recorded: [...names(`refs/ai/runs/${runId}`), ...names(`refs/ai/content/${runId}`)].sort(),
    tree: git('rev-parse', 'refs/heads/main^{tree}'),
    commitsOnTarget: git('rev-list', '--count', `${here.base}..refs/heads/main`),
    runOfCommit: git('log', '-1', '--format=%(trailers:key=Run-Id,valueonly)', commit) === runId,
    head: commit === data.decision?.commit_sha && commit === git('rev-parse', 'HEAD'),
    ledgerSize: ledgerSize(here.repo),
    status: git('status', '--porcelain', '--untracked-files=all'),
    fsck: git('fsck', '--strict', '--no-dangling', '--no-progress'),
  };
}

/** What lies about that nobody needs: locks, claims, half-made files, workspaces. */
export function traces(here: Here): readonly string[] {
  const gitDir = join(here.repo, '.git');
  const left = readdirSync(gitDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.lock$|packed-refs\.new$|(?:^|\/)writ-index|writ\/(?:git-locks|tmp)\/.|writ\/runs\/[^/]+\/lock(?:$|\.)|ledger(?:-lock|\/tmp)\/./.test(
      name,
    ),
  );
  // A run that was killed before its journal began is no run; `writ gc` takes its directory away, with whatever is in
  // it.
  const counts = (name: string): boolean => {
    const run = /(?:^|\/)writ\/runs\/[^/]+\//.exec(name);
    return !run || existsSync(join(gitDir, name.slice(0, run.index), run[0], 'journal.jsonl'));
  };
  const temporary = here.env.TMPDIR ?? '';
  const strewn = readdirSync(temporary).filter((name) => name.startsWith('writ'));
  return [
    ...left.filter(counts).map((name) => `left behind: .git/${name}`),
    ...strewn.map((name) => `left behind: $TMPDIR/${name}`),
  ];
}

function ledgerSize(repo: string): string {
  const root = join(repo, '.git', 'writ');
  const [checkpoint] = existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /(?:^|\/)checkpoint$/.test(name),
      )
    : [];
  return checkpoint === undefined
    ? 'none'
    : (readFileSync(join(root, checkpoint), 'utf8').split('\n')[1] ?? '');
}

function withoutIds(name: string): string {
  return name
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/[0-9a-f]{40,64}/g, '<digest>');
}
