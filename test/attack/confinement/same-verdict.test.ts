import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { openScene, outputOf, type Scene } from '../../plugins/sandbox/sandbox-scene.ts';
import { type Outside, probesOf, pythonRunner, shellRunner } from './probes.ts';

t.setTimeout(240_000);
const python = findProgram('python3', process.env.PATH ?? '');

async function outsideOf(t: { teardown(act: () => void): void }, scene: Scene): Promise<Outside> {
  const listen = (where: { port: number; host: string } | { path: string }): Promise<number> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.destroy());
      t.teardown(() => server.close());
      server.once('error', reject).listen(where, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  const abstractSocket = `writ-probes-${process.pid}`;
  const socket = path.join(scene.root, 's');
  await listen({ path: `\0${abstractSocket}` });
  await listen({ path: socket });
  const port = await listen({ port: 0, host: '127.0.0.1' });
  return { pid: process.pid, port, abstractSocket, socket, home: scene.home };
}

/** Names of what succeeded, and of what was tried. */
async function verdictOf(
  backend: SandboxBackend,
  scene: Scene,
  outside: Outside,
): Promise<{ readonly succeeded: readonly string[]; readonly tried: readonly string[] }> {
  const probes = Object.entries(probesOf(outside));
  const words = (kind: 'shell' | 'python'): readonly string[] =>
    probes.flatMap(([name, probe]) => (probe[kind] === undefined ? [] : [name, probe[kind]]));
  const lines: string[] = [];
  const inShell = await scene.run(backend, '', {
    argv: ['/bin/sh', '-c', shellRunner, 'sh', ...words('shell')],
    timeoutMs: 60_000,
  });
  lines.push(...outputOf(inShell).split('\n'));
  if (python !== undefined) {
    const program = path.join(scene.workspace, 'probes.py');
    writeFileSync(program, pythonRunner);
    const inPython = await scene.run(backend, '', {
      argv: ['python3', '-I', '/workspace/probes.py', ...words('python')],
      timeoutMs: 60_000,
    });
    lines.push(...outputOf(inPython).split('\n'));
  }
  const tried = lines.filter((line) => line.startsWith('tried ')).map((line) => line.slice(6));
  return { succeeded: lines.filter((line) => line !== '' && !line.startsWith('tried ')), tried };
}

const backends = [bubblewrapSandbox(), unshareSandbox()];
for (const backend of backends) {
  const { works, reason } = await backend.probe();
  t.test(
    `${backend.name}: no escape probe succeeds`,
    { skip: works || reason?.startsWith('it lets through') ? false : (reason ?? 'it does not work here') },
    async (t) => {
      t.equal(reason, undefined, 'and none of the few that it is asked at the start');
      const scene = openScene(t);
      const outside = await outsideOf(t, scene);
      const { succeeded, tried } = await verdictOf(backend, scene, outside);
      t.strictSame(succeeded, []);
      const expected = Object.entries(probesOf(outside))
        .filter(([, probe]) => probe.shell !== undefined || python !== undefined)
        .map(([name]) => name);
      t.strictSame([...tried].sort(), expected.sort(), 'and each was tried');
      t.ok(existsSync(path.join(scene.workspace, '.git')));
    },
  );
}

t.test('most escape probes succeed without a sandbox', { skip: python === undefined }, async (t) => {
  const scene = openScene(t);
  const outside = await outsideOf(t, scene);
  const { spawnProcess } = await import('../../../workspace/process/spawn.ts');
  const program = path.join(scene.root, 'probes.py');
  writeFileSync(program, pythonRunner);
  // What reads and asks, not what writes or kills.
  const harmless =
    /^(?:connect|see|find|read the keys|make any call|gain privileges|be |clone by|hold|call io_|call keyctl)/;
  const probes = Object.entries(probesOf(outside)).filter(([name]) => harmless.test(name));
  const run = (argv: readonly string[]) =>
    spawnProcess({
      argv,
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      maxOutputBytes: 65_536,
      timeoutMs: 60_000,
    });
  const shell = probes.flatMap(([name, { shell }]) => (shell === undefined ? [] : [name, shell]));
  const inPython = probes.flatMap(([name, { python }]) => (python === undefined ? [] : [name, python]));
  const said = [
    outputOf(await run(['/bin/sh', '-c', shellRunner, 'sh', ...shell])),
    outputOf(await run([python ?? '', '-I', program, ...inPython])),
  ].join('\n');
  const succeeded = said.split('\n').filter((line) => !line.startsWith('tried '));
  for (const name of [
    'connect to the loopback of the host',
    'make any call',
    'be without an out-of-memory preference',
  ])
    t.ok(succeeded.includes(name), name);
  t.ok(succeeded.length > probes.length / 2, `${succeeded.length} of ${probes.length}`);
});
