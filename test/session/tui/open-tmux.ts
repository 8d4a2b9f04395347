import { spawnSync } from 'node:child_process';
import { until } from '../../waiting/until.ts';
import type { SceneOptions } from './open-terminal-scene.ts';

const found = spawnSync('tmux', ['-V'], { encoding: 'utf8' });

/** Why tests in tmux are skipped here; `false` where they are not. */
export const noTmux: string | false = found.status === 0 ? false : 'no tmux on this machine';

/** A program in the only pane of a tmux of its own. */
export interface TmuxScene extends Disposable {
  /** What the pane shows. */
  screen(): readonly string[];
  /** All lines, those above the screen first; what tmux has broken is one. */
  lines(): readonly string[];
  type(text: string): void;
  /** By the names that tmux has for keys. */
  press(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
  until(what: string | RegExp): Promise<void>;
}

/** Starts the program in a terminal of that name, `screen-256color` or `tmux-256color`. */
export function openTmux(
  { program, args, cwd, env, columns = 100, rows = 30 }: SceneOptions,
  term: string,
): TmuxScene {
  const socket = `writ-test-${process.pid}-${term}`;
  const tmux = (...words: readonly string[]): string => {
    const ran = spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], {
      cwd,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env, TERM: 'xterm-256color' },
      encoding: 'utf8',
    });
    if (ran.status !== 0) throw new Error(`tmux ${words[0]}: ${ran.stderr}`);
    return ran.stdout;
  };
  const size = ['-x', `${columns}`, '-y', `${rows}`];
  tmux(
    'start-server',
    ';',
    'set',
    '-g',
    'default-terminal',
    term,
    ';',
    'new-session',
    '-d',
    ...size,
    program,
    ...args,
  );
  const capture = (...more: readonly string[]): readonly string[] =>
    tmux('capture-pane', '-p', ...more)
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd());
  return {
    screen: () => capture(),
    lines: () => capture('-J', '-S', '-'),
    type: (text) => void tmux('send-keys', '-l', text),
    press: (...keys) => void tmux('send-keys', ...keys),
    resize: (to, high) => void tmux('resize-window', '-x', `${to}`, '-y', `${high}`),
    async until(what) {
      const holds = (): boolean => {
        const seen = capture().join('\n');
        return typeof what === 'string' ? seen.includes(what) : what.test(seen);
      };
      await until(holds, `${what}`, () => capture().join('\n'));
    },
    [Symbol.dispose]: () => void spawnSync('tmux', ['-L', socket, 'kill-server']),
  };
}
