import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sessionRequest } from '../../../bin/demo/session-demo.ts';
import { long } from '../../rooms/long.ts';
import { noPty, openTerminalScene } from '../../session/tui/open-terminal-scene.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { runLine } from '../host.ts';

t.setTimeout(240_000);

function watched(t: Test) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-watch-test-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const args = ['demo', '--watch', '--out', join(root, 'out')];
  const env = { HOME: join(root, 'home'), TERM: 'xterm-256color' };
  return {
    args,
    root,
    env,
    start: () =>
      openTerminalScene({
        program: process.execPath,
        args: [...launcherOptions, writProgram, ...args],
        cwd: root,
        env,
        columns: 100,
        rows: 30,
      }),
  };
}

long(
  '`writ demo --watch` shows the session from the typed request to the commit',
  { skip: noPty },
  async (t) => {
    await using scene = watched(t).start();
    // Letter by letter: what is begun is seen before it is whole.
    await scene.until((screen) => screen.includes('> The note') && !screen.includes(sessionRequest));
    await scene.until('Execute plan');
    await scene.until('Committed');
    t.equal((await scene.exited).exitCode, 0);
    const lines = scene.lines();
    const order = [
      `> ${sessionRequest}`,
      '  objectives',
      '✓ you chose: Confirm',
      '✓ you chose: Execute plan · network allow',
      'Repair: ',
      '✓ Committed: ',
      'verified  ',
    ].map((words) => lines.findIndex((line) => line.startsWith(words)));
    t.notOk(order.includes(-1), `${order}`);
    t.same(
      order.toSorted((a, b) => a - b),
      order,
    );
    t.notMatch(
      lines.join('\n'),
      /network deny.*\n.*number or letter chooses/,
      'nothing of the screen is left',
    );
    t.equal(lines.filter((line) => line.startsWith('✓ Committed: ')).length, 1);
    t.notMatch(scene.raw(), /checks? done|stage fast|decision: commit|checking unit/, 'nobody else draws');
  },
);

long('Ctrl+C ends `writ demo --watch` and restores the terminal', { skip: noPty }, async (t) => {
  await using scene = watched(t).start();
  await scene.until('> The');
  scene.press('ctrl+c');
  t.equal((await scene.exited).exitCode, 130);
  t.match(scene.lines().join('\n'), /RUN_INTERRUPTED/);
  const hidden = scene.raw().lastIndexOf('\x1b[?25l');
  t.ok(hidden < 0 || scene.raw().lastIndexOf('\x1b[?25h') > hidden, 'the cursor is shown');
});

long('`writ demo --watch` requires a terminal', async (t) => {
  const { args, root, env } = watched(t);
  const ran = await runLine(args, commands, { cwd: root, env: { PATH: process.env.PATH ?? '', ...env } });
  t.match(ran, { code: 128, err: /TERMINAL_REQUIRED/ });
});
