import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import t from 'tap';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { initWords } from '../../../plugins/sandbox/run-in-view.ts';

/** Runs the script outside of any sandbox; `onAnnounced` gets our end of descriptor 3. */
async function start(
  directory: string,
  onAnnounced: (socket: Duplex) => void,
  network: SandboxRequest['network'] = 'none',
): Promise<number | null> {
  const [shell = '', ...words] = initWords({ network, argv: ['touch', path.join(directory, 'ran')] });
  const child = spawn(shell, words, {
    stdio: ['ignore', 'inherit', 'ignore', 'pipe'],
  });
  const socket = child.stdio[3] as Duplex;
  socket.on('error', () => {});
  socket.once('data', () => onAnnounced(socket));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

t.test('runs the command once the caller has confirmed the setup', async (t) => {
  const directory = t.testdir();
  t.equal(await start(directory, (socket) => socket.end('\n')), 0);
  t.ok(existsSync(path.join(directory, 'ran')));
});

t.test('runs nothing when the caller does not confirm the setup', async (t) => {
  const directory = t.testdir();
  t.not(await start(directory, (socket) => socket.destroy()), 0);
  t.notOk(existsSync(path.join(directory, 'ran')));
});

t.test('announces and runs nothing when the egress path cannot be opened', async (t) => {
  const directory = t.testdir();
  // Here there is no `/egress/node`.
  t.equal(await start(directory, () => t.fail('announced'), { way: directory }), 1);
  t.notOk(existsSync(path.join(directory, 'ran')));
});
