/*
 * `npm run bench:terminal`: from a key to what the terminal is told because of it, beside 10,000 entries of a
 * transcript; memory over 2,000 turns; and the first frame of `writ code`, as it is published, beyond what `node -e 0`
 * takes. Exit 1 where one is beyond its limit.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import pty from '@lydell/node-pty';
import { systemClock } from '../core/base/clock.ts';
import { slashCommands } from '../session/state/slash-words.ts';
import { openScreen } from '../session/tui/open-screen.ts';
import { openPainter } from '../session/tui/term/open-painter.ts';
import { themes } from '../session/tui/term/row.ts';
import { openMachineDoor } from '../test/session/tui/machine-door.ts';
import { figure, interleaved, median, printTable, timed } from './measure.ts';
import { sized } from './sized.ts';
import { stagePackage } from './stage-package.ts';

const held: boolean[] = [];
const size = { columns: 100, rows: 30 };

const machine = openMachineDoor(() => systemClock.now());
let bytes = 0;
const painter = openPainter({
  write: (text) => {
    bytes += text.length;
  },
  size,
  theme: themes.colour,
  reflows: true,
});
const screen = openScreen({
  door: machine.door,
  painter,
  size,
  clock: systemClock,
  commands: slashCommands,
  greeting: [],
  paths: async () => [],
  edit: async (text) => text,
  write: async (path) => path,
  suspend: () => {},
});

/** One turn: what is said, a reply in pieces, a tool, the end. */
async function oneTurn(turn: number): Promise<void> {
  await machine.door.submit(`/ask what about ${turn}`);
  for (const piece of ['It is ', '**so**.\n\n', `- ${turn}\n`])
    machine.report((of) => ({ turn: of, type: 'replying', id: `r${turn}`, text: piece }));
  machine.report((of) => ({ turn: of, type: 'tool', id: `t${turn}`, toolName: 'read', status: 'running' }));
  machine.report((of) => ({ turn: of, type: 'tool', id: `t${turn}`, toolName: 'read', status: 'completed' }));
  machine.report((of) => ({
    turn: of,
    type: 'replied',
    id: `r${turn}`,
    text: `It is **so**.\n\n- ${turn}\n`,
  }));
  machine.report((of) => ({ turn: of, type: 'noted', id: `n${turn}`, text: 'noted' }));
  machine.report((of) => ({ turn: of, type: 'end', end: 'done' }));
  screen.press([]);
}

const turns = sized(2500, 50);
const used: number[] = [];
for (let turn = 0; turn < turns; turn += 1) {
  await oneTurn(turn);
  if (turn % Math.ceil(turns / 5) === Math.ceil(turns / 5) - 1) {
    globalThis.gc?.();
    used.push(process.memoryUsage().heapUsed / 1024 / 1024);
  }
}
const grown = (used.at(-1) ?? 0) - (used[1] ?? 0);
held.push(
  figure('memory from turn 1,000 to 2,500', grown, 16, 'MB', used.map((mb) => mb.toFixed(0)).join(' ')),
);

const echoes: number[] = [];
for (let at = 0; at < sized(500, 20); at += 1) {
  const before = bytes;
  const started = performance.now();
  screen.press([{ type: 'text', text: 'x' }]);
  echoes.push(performance.now() - started);
  if (bytes === before) throw new Error('a key was not drawn');
}
const nearlyAll = echoes.toSorted((a, b) => a - b)[Math.floor(echoes.length * 0.95)] ?? Number.NaN;
const entries = `${machine.state.earlier + machine.state.transcript.length} entries`;
held.push(figure('key to echo, median', median(echoes), 16, 'ms', entries));
held.push(figure('key to echo, 95 of 100', nearlyAll, 16, 'ms', entries));
screen.close();

const root = mkdtempSync(join(tmpdir(), 'writ-bench-terminal-'));
const repository = join(root, 'repository');
cpSync('fixtures/runs/_sample', repository, { recursive: true });
const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
git('init', '--quiet', '--initial-branch=main');
git('add', '--all');
git('-c', 'user.name=Sample', '-c', 'user.email=s@sample.example', 'commit', '--quiet', '-m', 'Sample');
const env = {
  PATH: process.env.PATH,
  HOME: root,
  TERM: 'xterm-256color',
  GEMINI_API_KEY: 'a-key-that-is-never-sent',
};
if (spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' }).status !== 0) process.exit(1);
const argv = [stagePackage(), 'code', '--port', '0', '--mcp-port', '0'];
const exits: Promise<void>[] = [];

/** In a terminal, until it says that; then it is ended, which `exits` are told. */
function inTerminal(args: readonly string[], seen: string): Promise<void> {
  const exited = Promise.withResolvers<void>();
  exits.push(exited.promise);
  return new Promise((resolve) => {
    const child = pty.spawn(process.execPath, [...args], { cwd: repository, env, cols: 100, rows: 30 });
    let come = '';
    let isSeen = false;
    child.onData((data) => {
      come += data;
      if (isSeen || !come.includes(seen)) return;
      isSeen = true;
      resolve();
      child.write('\x04');
    });
    child.onExit(() => {
      exited.resolve();
      resolve();
    });
  });
}
const works = {
  node: () => inTerminal(['-e', 'console.log("up")'], 'up'),
  code: () => inTerminal(argv, 'for help'),
};
/** Nobody is measured while somebody else still ends. */
const end = (): Promise<unknown> => Promise.all(exits.splice(0));
for (let warm = 0; warm < 2; warm += 1) {
  await timed(works.code);
  await end();
}
const times = await interleaved(sized(15, 1), { node: works.node, ended: end, code: works.code, end });
rmSync(root, { recursive: true, force: true });
const detail = `${times.code.toFixed(0)} ms, node ${times.node.toFixed(0)} ms`;
held.push(figure('first frame of writ code, beyond node -e 0', times.code - times.node, 250, 'ms', detail));
printTable();
process.exit(held.every(Boolean) ? 0 : 1);
