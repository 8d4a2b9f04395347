import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeSample, type Sample, sampleSpec } from '../engine/run/sample.ts';
import { writProgram } from '../starter/program.ts';
import { until } from '../waiting/until.ts';
import { scriptModel } from './scripted-model.ts';
import { everything } from './use-hands.ts';
import { ending, mending } from './work-with-script.ts';

// Real processes beside everything else of a busy machine.
t.setTimeout(240_000);

/** `writ` as a process group of its own. */
function start({ root, env }: Sample, temporary: string, args: readonly string[]) {
  const child = spawn(process.execPath, [writProgram, '--json', ...args], {
    cwd: root,
    env: { ...env, TMPDIR: temporary, OPENAI_API_KEY: 'a-key' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<{ readonly code: number | null; readonly said: () => string }>((resolve) =>
    // Not `close`: what a killed run started keeps the pipes open.
    child.on('exit', (code) => resolve({ code, said: () => said })),
  );
  return { pid: child.pid ?? 0, ended, said: () => said };
}

t.test(
  'a run killed in the middle of a call makes that call not again, and nothing of it is left',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const temporary = join(sample.home, 'tmp');
    mkdirSync(temporary);
    const spec = join(sample.home, 'intent.json');
    writeFileSync(spec, sampleSpec({ security: { toolAcl: { allow: everything as never } } }));
    await using model = await scriptModel([
      { calls: [['shell', { command: 'echo once >> src/effect.txt; sleep 300' }], mending] },
      { calls: [['shell', { command: 'cat src/effect.txt' }]] },
      { calls: [mending] },
      { calls: [ending] },
    ]);
    const line = ['run', spec, '--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
    const first = start(sample, temporary, line);
    const effects = () => globSync('**/src/effect.txt', { cwd: temporary });
    let isOver = false;
    void first.ended.then(() => (isOver = true));
    await until(() => isOver || effects().length > 0, 'the effect of the first call');
    t.equal(effects().length, 1, first.said());
    process.kill(-first.pid, 'SIGKILL');
    await first.ended;

    const runs = join(sample.root, '.git', 'writ', 'runs');
    const [run = ''] = existsSync(runs) ? readdirSync(runs) : [];
    const journal = () => readFileSync(join(runs, run, 'journal.jsonl'), 'utf8');
    t.equal(journal().includes('run-finished'), false);
    t.equal(model.asked.length, 1);
    const { code, said } = await start(sample, temporary, ['resume', run]).ended;
    t.equal(code, 0, said());
    t.equal(model.asked.length, 4, 'it is asked anew');
    const [, again, next] = model.asked.map(
      ({ body }) =>
        body as { readonly messages: readonly { readonly role: string; readonly content: string }[] },
    );
    t.strictSame(
      again?.messages.map(({ role }) => role),
      ['system', 'user'],
      'and told nothing of calls before',
    );
    t.match(next?.messages.at(-1)?.content, 'No such file', 'what the killed call did is gone');
    t.strictSame(effects(), [], 'and no workspace of it is left');
    t.notMatch(sample.git('ls-tree', '-r', '--name-only', 'main'), 'effect.txt');
    const uses = sample
      .git('ls-tree', '-r', '--name-only', `refs/ai/runs/${run}`)
      .split('\n')
      .filter((path) => path.includes('/tools/worker/'));
    t.equal(uses.length, 5, 'the record tells of the attempt that counted');
  },
);
