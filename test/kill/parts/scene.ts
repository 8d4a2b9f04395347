/*
 * Everything that runs of a large team use, on this machine: Redis, two workers, the git remote of their jobs, an S3
 * server, a shared ledger with a witness, and one repository whose policy names them all.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointIn } from '../../../attest/log/checkpoint.ts';
import { type LedgerKey, parseVkey } from '../../../attest/log/note.ts';
import { parseEntries, readFrom, tilePath, tileWidth, widthAt } from '../../../attest/log/tiles.ts';
import { commands } from '../../../bin/command-table.ts';
import { startWitness } from '../../attest/log/witness-server.ts';
import { type Ran, runLine } from '../../bin/host.ts';
import { fixtures, sampleSpec } from '../../engine/sample.ts';
import { type Redis, startRedis, startWorker, type WorkerProcess } from '../../engine/workers/local-queue.ts';
import { startS3 } from '../../plugins/store/fault-proxy.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';

/** A service that can be killed, and started again with what it had on disk. */
export interface Service {
  /** Its process; `undefined`: it was killed. */
  child(): ChildProcess | undefined;
  kill(): Promise<void>;
  /** Starts it if it was killed. */
  start(): Promise<void>;
}

export interface Engine {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** Kills the process alone, or with every git and check that it started. */
  kill(group: boolean): void;
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** A worker gets a job after so many seconds, or the run goes on without. */
const afterSeconds = 4;

export async function openParts(root: string) {
  const [repo, home, temporary, content] = ['repo', 'home', 'tmp', 'content.git'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const path of [home, temporary]) mkdirSync(path, { recursive: true });
  const plain = {
    PATH: process.env.PATH ?? '',
    TMPDIR: temporary,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, 'compile-cache'),
  };
  let env: Readonly<Record<string, string>> = {
    ...plain,
    HOME: home,
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-test',
    WRIT_QUEUE_URL: join(root, 'redis', 'redis.sock'),
  };
  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const git = (...args: readonly string[]): string => gitIn(repo, ...args);

  const s3 = await startS3();
  const redis = await openRedis(join(root, 'redis'));
  cpSync(join(fixtures, '_sample'), repo, { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Sample maintainer');
  git('config', 'user.email', 'maintainer@sample.example');
  git('init', '--quiet', '--bare', content);
  const workers: Awaited<ReturnType<typeof openWorker>>[] = [];
  for (const name of ['build-1', 'build-2'])
    workers.push(
      await openWorker(name, { content, queue: redis.socket, home: join(root, name), env: plain }),
    );
  const ledger = await openLedger(join(root, 'ledger'), plain);
  const { data } = JSON.parse(
    (
      await runHere(['ledger', 'token', 'add', 'shop', '--directory', ledger.directory], {
        ...plain,
        HOME: home,
      })
    ).out,
  );
  env = { ...env, WRIT_LEDGER_TOKEN: data.token };
  writePolicy('local');
  git('add', '--all', '--force');
  git('commit', '--quiet', '-m', 'Sample');

  function writePolicy(fallback: string): void {
    mkdirSync(join(repo, '.writ', 'trust'), { recursive: true });
    cpSync(ledger.policy, join(repo, '.writ', 'trust', 'ledger.tlog-policy'));
    const tables = {
      'store.s3': { endpoint: s3.endpoint, bucket: s3.bucket, prefix: 'writ/' },
      workers: { queue: 'redis', content, after: afterSeconds, fallback },
      log: { server: ledger.url, vkey: ledger.vkey, policy: '.writ/trust/ledger.tlog-policy' },
    };
    const text = Object.entries(tables).map(
      ([name, table]) =>
        `[${name}]\n${Object.entries(table)
          .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
          .join('')}`,
    );
    writeFileSync(join(repo, '.writ', 'config.toml'), text.join('\n'));
    writeFileSync(join(repo, '.writ', 'workers'), `${workers.map(({ line }) => line).join('\n')}\n`);
  }

  async function runHere(args: readonly string[], own = env): Promise<Ran> {
    return runLine(['--json', ...args], commands, { cwd: repo, env: own });
  }

  // A loop that is stopped leaves no process.
  const killAll = (): void => {
    for (const service of [...workers, redis, ledger]) service.child()?.kill('SIGKILL');
  };
  process.once('exit', killAll);
  return {
    ...{ root, repo, content, s3, redis, workers, ledger, git, gitIn, plain },
    /** Commits what a run does without workers: `local` or `fail`. */
    setFallback(fallback: 'local' | 'fail'): void {
      writePolicy(fallback);
      git('add', '--force', '.writ/config.toml');
      if (git('status', '--porcelain', '--', '.writ') !== '')
        git('commit', '--quiet', '-m', `Fallback ${fallback}`);
    },
    /** A command that only reads; it needs no process of its own. */
    read: (args: readonly string[]) => runHere(args),
    /** Starts `writ` as the leader of a process group. */
    start(args: readonly string[]): Engine {
      const child = spawn(process.execPath, [...launcherOptions, writProgram, '--json', ...args], {
        ...{ cwd: repo, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
      });
      const text = { out: '', err: '' };
      child.stdout?.on('data', (chunk: Buffer) => {
        text.out += chunk.toString();
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        text.err += chunk.toString();
      });
      const kill = (group: boolean): void => signal(child, 'SIGKILL', group);
      // Not `close`: an orphan of a killed run keeps the pipes open.
      const ended = once(child, 'exit').then(async ([code]) => {
        await instant(20);
        return { code: code as number | null, ...text };
      });
      // An engine that hangs is killed, and its end says so.
      const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
      until(isOver, `the end of \`writ ${args.join(' ')}\``, () => text.out + text.err).catch((fault) => {
        text.err += String(fault);
        kill(true);
      });
      return { child, ended, kill };
    },
    async close(): Promise<void> {
      process.off('exit', killAll);
      for (const service of [...workers, redis, ledger]) await service.kill();
      await ledger.witness.close();
      await s3.close();
    },
  };
}

/** Signals a process, or its group; one that has ended is left alone. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals, group = false): void {
  try {
    if (pid !== undefined) process.kill(group ? -pid : pid, name);
  } catch {
    // Ended by itself.
  }
}

async function openRedis(directory: string): Promise<Service & { readonly socket: string }> {
  let running: Redis | undefined = await startRedis(directory);
  const { socket } = running;
  return {
    socket,
    child: () => running?.child,
    async kill() {
      await running?.stop('SIGKILL');
      running = undefined;
    },
    async start() {
      running ??= await startRedis(directory);
    },
  };
}

async function openWorker(
  name: string,
  how: Parameters<typeof startWorker>[1],
): Promise<Service & Pick<WorkerProcess, 'line' | 'printed'>> {
  let running: WorkerProcess | undefined = await startWorker(name, how);
  const { line } = running;
  let before = '';
  return {
    line,
    child: () => running?.child,
    printed: () => before + (running?.printed() ?? ''),
    async kill() {
      await running?.stop('SIGKILL');
      before += running?.printed() ?? '';
      running = undefined;
    },
    async start() {
      running ??= await startWorker(name, how);
    },
  };
}

/** `writ ledger serve --write` with one witness. Its entries are read from its directory. */
async function openLedger(root: string, plain: Readonly<Record<string, string>>) {
  const [directory, policy] = [join(root, 'ledger'), join(root, 'policy')];
  mkdirSync(root);
  let key: LedgerKey | undefined;
  const witness = await startWitness('w1', () => (key === undefined ? [] : [key]));
  writeFileSync(policy, `${witness.policyLine}\nquorum w1\n`);
  let port = '0';
  let running: ChildProcess | undefined;
  const start = async (): Promise<string> => {
    const words = [
      'ledger',
      'serve',
      '--write',
      '--directory',
      directory,
      '--policy',
      policy,
      '--port',
      port,
    ];
    const child = spawn(process.execPath, [...launcherOptions, writProgram, ...words], {
      ...{ cwd: root, env: { ...plain, HOME: root }, stdio: ['ignore', 'ignore', 'pipe'] },
    });
    running = child;
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await until(() => /^key: /m.test(said) || child.exitCode !== null, 'the ledger');
    if (child.exitCode !== null) throw new Error(`the ledger did not start: ${said}`);
    return said;
  };
  const said = await start();
  const url = /on (http:\S+?)\/?,/.exec(said)?.[1] ?? '';
  const vkey = /^key: (\S+)/m.exec(said)?.[1] ?? '';
  key = parseVkey(vkey);
  port = new URL(url).port;
  return {
    ...{ directory, policy, url, vkey, witness },
    child: () => running,
    async kill() {
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      running.kill('SIGCONT');
      await ended;
      running = undefined;
    },
    async start() {
      if (running === undefined) await start();
    },
    /** All entries that are published. */
    async entries(): Promise<readonly string[]> {
      const read = readFrom(join(directory, 'log'));
      const size = checkpointIn(`${Buffer.from((await read('checkpoint')) ?? [])}`)?.size ?? 0;
      const all: string[] = [];
      for (let at = 0; at * tileWidth < size; at += 1) {
        const width = widthAt(0, at, size);
        const bundle = await read(tilePath('entries', at, width));
        const entries = parseEntries(Buffer.from(bundle ?? []));
        if (entries === undefined) throw new Error(`entries of bundle ${at} cannot be read`);
        all.push(...entries.map(String));
      }
      return all;
    },
  };
}

const check = (id: string, command: string, more: object = {}) => ({
  ...{ id, kind: 'command', command, timeoutSeconds: 6, required: true, artifactsProduced: [], ...more },
});

/** The spec and the patch of one change: it adds a file, and a check refuses it if it is `bad`. */
export function changeOf(name: string, isBad: boolean): { readonly spec: Buffer; readonly patch: Buffer } {
  const path = isBad ? `src/bad/${name}.js` : `src/${name}.js`;
  const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+export const part = '${name}';\n`;
  const spec = sampleSpec({
    metadata: { id: `change-${name}` },
    intent: { changeType: 'chore' },
    acceptance: {
      verificationPlan: {
        fastChecks: [
          check('unit', 'node --test --test-isolation=none --test-reporter=tap', {
            ...{ kind: 'testSuite', artifactsProduced: ['test-log'] },
          }),
          check('parts', 'sleep 0.2 && test ! -d src/bad'),
        ],
        integrationChecks: [check('there', 'test -d src')],
      },
    },
    objmodel: { objectStore: { backend: 'external-s3' } },
  });
  return { spec, patch: Buffer.from(patch) };
}
