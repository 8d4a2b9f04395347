import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, openTerminalScene } from './open-terminal-scene.ts';

const noScreen =
  spawnSync('screen', ['--version']).error === undefined ? noPty : 'no GNU screen on this machine';

/** What the line of the session's state begins with when it was drawn for so many columns. */
const sizes = [
  [60, 20, 'ready · gpt-6-luna · ctx'],
  [40, 10, 'ready · ctx'],
  [120, 40, 'ready · gpt-6-luna · ctx'],
] as const;

long(
  'a session in GNU screen survives resizing, scrollback copy, detach and reattach',
  {
    skip: noScreen,
  },
  async (t) => {
    const reply = Array.from({ length: 40 }, (_, at) => `- caller ${at + 1} of price\n`).join('');
    await using code = await openCodeScene([{ text: `It adds **one** cent.\n\n${reply}` }]);
    const line = code.line();
    const place = join(line.env.HOME, 'screens');
    mkdirSync(place, { mode: 0o700 });
    writeFileSync(join(place, 'rc'), 'startup_message off\ndefutf8 on\ndefscrollback 500\n');
    const env = { ...line.env, SCREENDIR: place };
    const inScreen = (...args: readonly string[]) => ({ ...line, env, program: 'screen', args });
    const ask = (...args: readonly string[]) => spawnSync('screen', ['-S', 'writ', '-X', ...args], { env });
    t.teardown(() => ask('quit'));
    {
      await using scene = openTerminalScene(
        inScreen('-U', '-c', join(place, 'rc'), '-S', 'writ', line.program, ...line.args),
      );
      await scene.until('? for help');
      scene.type('/ask What does price do?');
      await scene.until('> /ask What does price do?');
      // The key before it ends what was typed: a line end that follows text at once is a pasted one.
      scene.press('end');
      scene.type('\r');
      await scene.until('caller 40 of price');
      await scene.until(/^ready/m);
      scene.type('half written');
      await scene.until('> half written');
      for (const [columns, rows, status] of sizes) {
        scene.resize(columns, rows);
        await scene.until(new RegExp(`^> half written *\\n${status}[^\\n]*$`, 'm'));
        for (const once of ['> half written', 'ready · '])
          t.equal(
            scene.screen().filter((found) => found.startsWith(once)).length,
            1,
            `${once} at ${columns}×${rows}`,
          );
      }
      const copy = join(place, 'copy');
      ask('hardcopy', '-h', copy);
      // Of each sign screen writes the lowest octet alone.
      const copied = (): readonly string[] =>
        (existsSync(copy) ? readFileSync(copy, 'latin1') : '').split('\n').map((found) => found.trimEnd());
      await until(() => copied().some((found) => found.startsWith('ready ')), 'the copy of all lines');
      for (const once of [
        /^> \/ask What does price do\?$/,
        /^It adds one cent\.$/,
        /^. caller 1 of price$/,
        /^. caller 40 of price$/,
      ])
        t.equal(copied().filter((found) => once.test(found)).length, 1, `${once}`);
      ask('detach');
      await scene.exited;
    }
    await using again = openTerminalScene({ ...inScreen('-U', '-r', 'writ'), columns: 90, rows: 24 });
    await again.until(/^> half written *\nready · gpt-6-luna · ctx[^\n]*$/m);
    again.type(' and whole');
    await again.until('> half written and whole');
  },
);
