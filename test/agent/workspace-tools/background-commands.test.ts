import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { HandAnswer, HandUse } from '../../../core/interfaces/worker.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { everything, mend, rule, useHands } from '../use-workspace-tools.ts';

type Use = (use: HandUse) => Promise<HandAnswer>;

const behind = (command: string, timeoutSeconds?: number) =>
  ({ kind: 'background', command, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) }) as const;
const execute = (command: string) => ({ kind: 'execute', command }) as const;
const list = { kind: 'command', action: 'list' } as const;
const output = (id: string) => ({ kind: 'command', action: 'output', id }) as const;
const stop = (id: string) => ({ kind: 'command', action: 'stop', id }) as const;

const node = (text: string) => `node -e '${text}'`;

/** Looks until everything printed since the first look holds the text; returns all of it. */
async function printed(use: Use, id: string, text: string): Promise<string> {
  let all = '';
  await until(async () => {
    const { text: part } = await use(output(id));
    all += part;
    return all.includes(text) || !part.endsWith('[running]');
  }, `${text} of command ${id}`);
  return all;
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Processes of this machine whose command line holds a word. */
function processesWith(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}

const server = node(`
const fs = require("node:fs");
console.log("listening"); process.stdout.write("half a");
setInterval(() => {
  if (!fs.existsSync("question")) return;
  fs.writeFileSync("answer.part", "answer to " + fs.readFileSync("question", "utf8"));
  fs.renameSync("answer.part", "answer");
  fs.rmSync("question");
  console.log(" line, and an answer");
}, 10);`);
const ask =
  'echo me > q.part && mv q.part question && until [ -e answer ]; do sleep 0.02; done; cat answer && rm answer';

t.test('a command in the background works beside others and is shown, listed and stopped', async (t) => {
  const { view } = await useHands(t, {}, async (use, workspace) => {
    t.match(await use(behind(server)), { outcome: 'done', text: /as command 1$/ });
    const first = await printed(use, '1', 'listening');
    t.notMatch(first, 'half a', 'an incomplete line is not shown yet');
    t.match(first, /\[running\]/);
    t.match(await use(execute(ask)), { outcome: 'done', text: 'answer to me' });
    const second = await printed(use, '1', 'and an answer');
    t.match(second, 'half a line, and an answer');
    t.notMatch(second, 'listening', 'only what is new');
    t.match((await use(list)).text, /^1\trunning\tnode -e/);
    t.match(await use(stop('1')), { outcome: 'done', text: /\[stopped\]$/ });
    t.match((await use(list)).text, /^1\tstopped\t/);
    t.match(await use(output('9')), { outcome: 'denied', text: 'no command `9`' });

    t.match(await use(behind('echo out; exit 3')), { outcome: 'done' });
    t.match(await printed(use, '2', '[exit code'), /^(\[running\])*out\n(\[running\])*\[exit code 3\]$/);
    t.notOk(readdirSync(workspace).includes('question'));
    await use(execute('rm -f answer.part'));
    await mend(use);
  });
  t.match(view, { decision: { type: 'commit' } });
});

long('nothing of a command in the background is left when the change is captured', async (t) => {
  const word = `lasting-${process.pid}`;
  const lasting = node(`
const fs = require("node:fs");
const ignored = () => ["SIGTERM", "SIGINT", "SIGHUP"].map((name) => process.on(name, () => {}));
ignored();
const child = "setInterval(() => require(\\"node:fs\\").appendFileSync(\\"src/lasting\\", \\"more\\\\n\\"), 10); (" + ignored + ")()";
require("node:child_process").spawn(process.execPath, ["-e", child, "${word}"], { detached: true, stdio: "ignore" });
console.log("up");
setInterval(() => {}, 1000);`);
  const { view, sample } = await useHands(t, {}, async (use, workspace) => {
    await mend(use);
    t.match(await use(behind(lasting)), { outcome: 'done' });
    await printed(use, '1', 'up');
    await until(() => readIfThere(join(workspace, 'src/lasting')).includes('more\nmore'));
    t.not(processesWith(word).length, 0);
  });
  t.same(processesWith(word), []);
  t.match(view, { decision: { type: 'commit' } });
  const ref = `refs/ai/runs/${view.runId}`;
  const uses = sample
    .git('ls-tree', '-r', '--name-only', ref)
    .split('\n')
    .filter((path) => path.includes('/tools/worker/'))
    .map((path) => JSON.parse(sample.git('cat-file', 'blob', `${ref}:${path}`)));
  const [use] = uses.filter(({ action }) => action === 'execute');
  t.match(use, { tool: 'workspace.command', outcome: 'done', command: /^node -e/ });
  t.notOk('exit_code' in use, 'a stopped command has none');
});

long('at most four commands run in the background, under the rules of every command', async (t) => {
  const allow = [
    ...everything.filter(({ tool }) => tool !== 'workspace.command'),
    rule('workspace.command', ['execute'], { allowCommands: ['sleep', 'node'] }),
    rule('workspace.command', ['execute'], { allowCommands: ['touch'], writeRoots: ['src'] }),
  ];
  await useHands(t, { allow }, async (use) => {
    t.match(await use(behind('cat src/price.js')), { outcome: 'denied' });
    t.match(await use(behind('touch src/a')), { outcome: 'denied', text: 'Run it alone' });
    t.match(await use(execute('touch src/a')), { outcome: 'done' });
    for (const id of ['1', '2', '3', '4'])
      t.match(await use(behind('sleep 1000')), { outcome: 'done', text: `command ${id}` });
    t.match(await use(behind('sleep 1000')), { outcome: 'denied', text: 'Stop one first' });
    t.match(await use(execute('touch src/a')), { outcome: 'denied', text: 'Run it alone' });
    t.match(await use(stop('2')), { outcome: 'done', text: '[stopped]' });
    t.match(await use(stop('2')), { outcome: 'done', text: '[stopped]' }, 'again');
    t.match(await use(behind('sleep 1000')), { outcome: 'done', text: 'command 5' });
    t.match((await use(list)).text, /^1\trunning.*\n2\tstopped.*\n3\trunning.*\n4\trunning.*\n5\trunning/);
  });
});

long('the bounds of every command hold in the background', async (t) => {
  const token = ['ghp_', 'Zz91kQm3'.repeat(5).slice(0, 36)].join('');
  await useHands(t, {}, async (use, workspace) => {
    await use(
      behind(
        `printf 'a ${token.slice(0, 20)}'; until [ -e go ]; do sleep 0.02; done; echo '${token.slice(20)}'; exit 0`,
      ),
    );
    const early = await use(output('1'));
    t.match(early.text, '[running]');
    await use({ kind: 'write', path: 'src/go', bytes: Buffer.from('') });
    await use(execute('mv src/go go'));
    const said = early.text + (await printed(use, '1', '[exit code 0]'));
    t.notMatch(said, token.slice(0, 20), 'half a secret is not shown');
    t.notMatch(said, token.slice(20));
    t.match(said, 'redacted');

    await use(behind('yes flood', 2));
    const flood = await printed(use, '2', '[ended after 2 s]');
    t.match(flood, /\[cut: \d+ bytes since the last look\]/);
    for (const part of flood.split('[running]')) t.ok(part.length < 70_000);

    const seconds = String(100_000 + process.pid);
    const forks = node(`
for (let count = 0; count < 40; count += 1)
  require("node:child_process").spawn("sleep", ["${seconds}"], { detached: true, stdio: "ignore" });
setInterval(() => {}, 1000);`);
    t.match(await use(behind(forks)), { outcome: 'done', text: 'command 3' });
    await until(() => processesWith(`sleep\0${seconds}`).length === 40);
    t.match(await use(stop('3')), { outcome: 'done', text: '[stopped]' });
    t.same(processesWith(`sleep\0${seconds}`), []);
    t.match(await use(execute('echo alive')), { outcome: 'done', text: 'alive' });
    t.ok(readdirSync(workspace).includes('go'));
  });
});
