import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealingForms } from '../attest/attestor/sealing-forms.ts';
import { parseConfig } from '../engine/config/config.ts';
import { type OpenWorkspace, openingWorkspace } from '../engine/evaluate/open-workspace.ts';
import type { Attempt } from '../engine/state/open-run.ts';
import { stepsInMemory } from '../engine/state/record-collector.ts';
import { bubblewrapSandbox } from '../plugins/sandbox/bubblewrap.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { createScratch } from '../workspace/git/scratch.ts';
import { figure, interleaved, median, timed } from './measure.ts';
import { sized } from './sized.ts';

/** As much of an attempt as workspaces are made of; what is given has the form that the product has today. */
interface PartOfAttempt extends Pick<Attempt, 'name'> {
  readonly services: Partial<Omit<Attempt['services'], 'settings'>> & {
    readonly settings: Partial<Attempt['services']['settings']>;
  };
  readonly patch: Partial<Attempt['patch']>;
  readonly environment: Partial<Attempt['environment']>;
}

const counts = sized([10, 1_000, 50_000], [10]);
/** What a world may cost against git's own `checkout-index` of the same tree and an `rm -r` of it. */
const limits: Readonly<Record<number, number>> = { 10: 2, 1000: 2, 50000: 1.5 };

/** What looking whether its files are what they were may add. */
const comparedLimit = 1.1;

/**
 * What one check more costs beyond its command, its world made and removed, against a bare checkout; and a stage of
 * four checks, each in a world of its own, against four in one that they share.
 */
export async function benchCheckWorlds(): Promise<boolean> {
  let held = true;
  for (const count of counts) {
    const box = mkdtempSync(join(tmpdir(), 'writ-bench-'));
    try {
      held = (await benchCount(box, count)) && held;
    } finally {
      rmSync(box, { recursive: true, force: true });
    }
  }
  return held;
}

async function benchCount(box: string, count: number): Promise<boolean> {
  const root = join(box, 'repo');
  const tree = makeRepository(root, count);
  const repository = await openRepository(root);
  const scratch = await createScratch(join(box, 'scratch'), repository);
  const attempt: PartOfAttempt = {
    services: {
      steps: stepsInMemory(),
      scratch,
      settings: {},
      privateRoot: box,
      signal: new AbortController().signal,
    },
    patch: { baseCommit: tree.commit, baseTree: tree.tree, candidateTree: tree.tree },
    environment: {
      config: parseConfig(undefined, sealingForms),
      repository,
      sandbox: bubblewrapSandbox(),
    },
    name: 'candidate-1',
  };
  let epoch = 0;
  /** Of the objects, which all checks of a candidate share. */
  const first: number[] = [];
  const rounds = sized(count > 10_000 ? 3 : 7, 1);
  let side = openingWorkspace(attempt as Attempt, epoch);
  const world = async (): Promise<void> => (await side.open([])).close();
  let unlike = 0;
  const ran = async (): Promise<OpenWorkspace> => {
    const opened = await side.open([]);
    const { directory, reports, binds, sandbox } = opened;
    const [command, bounds] = [
      { argv: ['true'], env: {} },
      { timeoutMs: 60_000, maxOutputBytes: 1024 },
    ];
    await sandbox.run({ ...command, ...bounds, workspace: directory, reports, binds, network: 'none' });
    return opened;
  };
  const looked: number[] = [];
  const compared = async (): Promise<void> => {
    const opened = await ran();
    looked.push(
      await timed(async () => {
        unlike += (await opened.changed()).length;
      }),
    );
    await opened.close();
  };
  const env = { ...process.env, GIT_INDEX_FILE: join(box, 'index') };
  const bare = (): void => {
    const work = join(box, 'bare');
    mkdirSync(work);
    execFileSync('git', ['--work-tree', work, 'read-tree', '--reset', '-u', tree.tree], { cwd: root, env });
    execFileSync('rm', ['-r', work]);
    rmSync(join(box, 'index'));
  };
  await world();
  for (let round = 0; round < rounds; round += 1) {
    side = openingWorkspace(attempt as Attempt, ++epoch);
    first.push(await timed(world));
  }
  const times = await interleaved(rounds, { world, compared, bare });
  if (unlike > 0) throw new Error('an export was not what it is');
  // Of the same rounds: two that are timed apart differ by more than this.
  const look = median(looked);
  const packed = Math.max(0, median(first) - times.world);
  const ratio = times.world / times.bare;
  const four = (packed + 4 * times.world) / times.world;
  const comparing = figure(
    `a check over ${count.toLocaleString('en')} files, compared at its end / one that is not`,
    times.compared / (times.compared - look),
    comparedLimit,
    'x',
    `${look.toFixed(1)} ms of ${times.compared.toFixed(0)} ms`,
  );
  const making = figure(
    `a check's world of ${count.toLocaleString('en')} files / a bare checkout`,
    ratio,
    limits[count] ?? 2,
    'x',
    `${times.world.toFixed(0)} ms against ${times.bare.toFixed(0)} ms, its objects ${packed.toFixed(0)} ms once; four checks against one shared export ${four.toFixed(1)} x`,
  );
  return comparing && making;
}

function makeRepository(root: string, count: number): { readonly commit: string; readonly tree: string } {
  for (let index = 0; index < count; index += 1) {
    const directory = join(root, 'src', `d${Math.floor(index / 50)}`);
    if (index % 50 === 0) mkdirSync(directory, { recursive: true });
    const line = `export const v${index} = ${index};\n`;
    writeFileSync(join(directory, `f${index}.ts`), line.repeat(40 + (index % 60)));
  }
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@b.example', '-c', 'gc.auto=0', ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    }).trim();
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'All');
  git('repack', '-adq', '--window=0');
  return { commit: git('rev-parse', 'HEAD'), tree: git('rev-parse', 'HEAD^{tree}') };
}
