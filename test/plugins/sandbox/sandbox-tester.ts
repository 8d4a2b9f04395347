/* Tests the promises of a sandbox back end. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { type CaseRunner, runCases } from '../../../plugins/testers/run-cases.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';

/** The environment of one case: private directories, two of which are passed to the sandbox. */
interface SandboxScene {
  readonly backend: SandboxBackend;
  /** Holds the two and whatever else a case puts there, which is outside. */
  readonly root: string;
  readonly workspace: string;
  readonly reports: string;
  /** Runs a script of the shell. */
  readonly run: (script: string, changes?: Partial<SandboxRequest>) => Promise<SandboxResult>;
}

/** What every sandbox promises, each as a function that rejects where it does not hold. */
type SandboxCases = Readonly<Record<string, (scene: SandboxScene) => Promise<void>>>;

/** Runs a case with its directories, and removes them afterwards. */
async function withScene(
  backend: SandboxBackend,
  judge: (scene: SandboxScene) => Promise<void>,
): Promise<void> {
  // Where workspaces are, and short enough for the path of a socket.
  const root = await realpath(await mkdtemp(join(tmpdir(), 'writ-sandbox-')));
  const [workspace, reports] = [join(root, 'workspace'), join(root, 'reports')];
  try {
    await mkdir(join(workspace, '.git'), { recursive: true });
    await mkdir(reports);
    const run: SandboxScene['run'] = (script, changes = {}) =>
      backend.run({
        argv: ['/bin/sh', '-c', script],
        workspace,
        reports,
        binds: [],
        env: {},
        network: backend.unconfined ? 'host' : 'none',
        timeoutMs: 120_000,
        maxOutputBytes: 65_536,
        ...changes,
      });
    await judge({ backend, root, workspace, reports, run });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Processes of this machine, except this one, with `mark` in their command line. Rejects without `/proc`. */
async function processesWith(mark: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')));
  return ids.filter((_, index) => lines[index]?.includes(mark)).map(Number);
}

let marks = 0;
/** Seconds that no other process of this machine sleeps. */
function uniqueSleep(): string {
  marks += 1;
  return `8${String(process.pid).padStart(7, '0')}${marks}`;
}

/**
 * Runs a sandbox through what every one promises on this machine, and unless it is `unconfined`, through what it holds
 * back; rejects with an AssertionError that names the promise that is not kept. Needs `/proc`. A pass is a beginning: a
 * sandbox that is to be trusted is also attacked.
 */
export async function sandboxTester(runner: CaseRunner | undefined, backend: SandboxBackend): Promise<void> {
  const cases = { ...sandboxCases, ...(backend.unconfined ? {} : confiningCases) };
  const promises = Object.entries(cases).map(
    ([sentence, judge]) => [sentence, () => withScene(backend, judge)] as const,
  );
  await runCases(runner, 'sandbox', backend.name, Object.fromEntries(promises));
}

const said = ({ stdout }: SandboxResult): string => stdout.bytes.toString('utf8');
const nothing = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** Two processes beside the shell, one of them in a separate session. */
const linger = (sleep: string): string => `setsid sleep ${sleep} & sleep ${sleep} & wait`;

/** Milliseconds that a command has to end. After that, it is killed by its mark, and the case fails. */
const patience = 20_000;
async function within(running: Promise<SandboxResult>, mark: string): Promise<SandboxResult> {
  const settled = new AbortController();
  const late = systemClock.sleep(patience, settled.signal).then(
    async () => {
      for (const id of await processesWith(mark)) process.kill(id, 'SIGKILL');
      return undefined;
    },
    () => undefined,
  );
  const result = await Promise.race([running, late]).finally(() => settled.abort());
  assert.ok(result, 'the command goes on');
  return result;
}

/** The promises of every sandbox, even one that does not confine. */
const sandboxCases: SandboxCases = {
  'it says that it works here, and what it enforces': async ({ backend }) => {
    const { works, enforced, reason } = await backend.probe();
    assert.ok(works, `it does not work on this machine: ${reason ?? 'without a reason'}`);
    assert.equal(enforced.length === 0, backend.unconfined === true, 'what confines enforces something');
  },
  'a command runs in its working directory, and its exit is reported': async (scene) => {
    const inside = scene.backend.pathsInside(scene);
    const script = 'pwd; echo err >&2; cat; echo kept >written; echo seen >"$REPORTS/report"; exit 7';
    const env = { REPORTS: inside.reports };
    const result = await scene.run(script, { env, stdin: Buffer.from('told\n') });
    assert.equal(said(result), `${inside.workspace}\ntold\n`);
    assert.equal(result.stderr.bytes.toString(), 'err\n');
    assert.ok(result.combined.bytes.includes('err\n') && result.combined.bytes.includes('told\n'));
    assert.deepEqual([result.exitCode, result.timedOut, result.aborted], [7, false, false]);
    assert.equal(await nothing(join(scene.workspace, 'written')), 'kept\n');
    assert.equal(await nothing(join(scene.reports, 'report')), 'seen\n');
    assert.ok(result.durationMs >= 0);
  },
  'no variable of ours reaches a command': async (scene) => {
    const name = 'WRIT_TESTER_SECRET';
    process.env[name] = 'leaked';
    try {
      const told = said(await scene.run('env', { env: { TOLD: 'yes' } }));
      assert.match(told, /^TOLD=yes$/m);
      for (const given of ['PATH', 'HOME', 'TMPDIR']) assert.match(told, new RegExp(`^${given}=/`, 'm'));
      assert.ok(!told.includes('leaked'), 'a variable of this process is there');
    } finally {
      delete process.env[name];
    }
  },
  'output is bounded, and counted': async (scene) => {
    const { stdout } = await scene.run('head -c 5000 /dev/zero', { maxOutputBytes: 1000 });
    assert.deepEqual([stdout.totalBytes, stdout.truncated], [5000, true]);
    assert.ok(stdout.bytes.length <= 1000, `${stdout.bytes.length} bytes are kept`);
  },
  'a time-out ends every descendant': async (scene) => {
    const sleep = uniqueSleep();
    const result = await within(scene.run(linger(sleep), { timeoutMs: 1_500 }), sleep);
    assert.equal(result.timedOut, true);
    assert.equal(result.exitCode, undefined);
    assert.deepEqual(await processesWith(sleep), []);
  },
  'an abort ends every descendant': async (scene) => {
    const sleep = uniqueSleep();
    const stop = new AbortController();
    const running = scene.run(linger(sleep), { signal: stop.signal });
    let ended = false;
    const end = () => (ended = true);
    running.then(end, end);
    await until(async () => ended || (await processesWith(sleep)).length > 0);
    stop.abort();
    assert.equal((await within(running, sleep)).aborted, true);
    assert.deepEqual(await processesWith(sleep), []);
  },
  'an abort while it starts ends it, whatever has started by then': async (scene) => {
    const sleep = uniqueSleep();
    for (let delay = 0; delay < 40; delay += 2) {
      const stop = new AbortController();
      const running = scene.run(linger(sleep), { signal: stop.signal });
      await instant(delay);
      stop.abort();
      assert.equal((await within(running, sleep)).aborted, true);
      assert.deepEqual(await processesWith(sleep), []);
    }
  },
};

/** What a sandbox promises that holds something back. */
const confiningCases: SandboxCases = {
  'what is outside is not changed': async (scene) => {
    const outside = join(scene.root, 'outside');
    await writeFile(outside, 'as it was');
    await scene.run(`echo x >'${outside}'; rm -f '${outside}'; echo x >'${scene.root}/new'; true`);
    assert.equal(await nothing(outside), 'as it was');
    assert.equal(await nothing(join(scene.root, 'new')), '', 'a file was made beside the workspace');
  },
  'what is outside is not read': async (scene) => {
    const secret = join(scene.root, 'secret');
    await writeFile(secret, 'nobody may know');
    const result = await scene.run(`cat '${secret}'; cat '${secret}' >copy; true`);
    assert.ok(!said(result).includes('nobody may know'), 'a file beside the workspace was read');
    assert.equal(await nothing(join(scene.workspace, 'copy')), '');
  },
  'what git runs by is not changed': async (scene) => {
    const git = join(scene.workspace, '.git');
    const [config, hook] = [join(git, 'config'), join(git, 'hooks', 'pre-commit')];
    await mkdir(join(git, 'hooks'));
    await writeFile(config, 'as it was');
    await scene.run('echo x >.git/hooks/pre-commit; echo x >.git/config; true');
    assert.equal(await nothing(hook), '', 'a hook was made');
    assert.equal(await nothing(config), 'as it was');
  },
  'a bind that may not be written is only read': async (scene) => {
    const source = join(scene.root, 'shared');
    await mkdir(source);
    await writeFile(join(source, 'file'), 'as it was');
    const target = join(scene.backend.pathsInside(scene).workspace, 'shared');
    const binds = [{ source, target, writable: false }];
    const result = await scene.run('cat shared/file; echo x >shared/file; echo x >shared/new; true', {
      binds,
    });
    assert.equal(said(result), 'as it was');
    assert.equal(await nothing(join(source, 'file')), 'as it was');
    assert.equal(await nothing(join(source, 'new')), '', 'a file was made in it');
  },
  'nothing of this machine can be connected to': async (scene) => {
    let connected = 0;
    const server = createServer((socket) => {
      connected += 1;
      socket.destroy();
    });
    try {
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen({ port: 0, host: '127.0.0.1' }, resolve),
      );
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      assert.ok(port, 'there is no port to try');
      const connect = `require('net').connect(${port},'127.0.0.1').on('connect',()=>console.log('there')).on('error',()=>console.log('away'))`;
      const result = await scene.run(
        `if [ -x /bin/bash ]; then bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo there || echo away
         else node -e "${connect}"; fi`,
      );
      assert.equal(said(result), 'away\n');
      assert.equal(connected, 0);
    } finally {
      server.close();
    }
  },
};
