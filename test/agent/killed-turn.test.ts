import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { makeSample, type Sample, sampleSpec } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { launcherOptions, writProgram } from '../starter/program.ts';
import { until } from '../waiting/until.ts';
import { scriptModel } from './scripted-model.ts';
import { everything } from './use-workspace-tools.ts';
import { ending, mending } from './work-with-script.ts';

// Real processes beside everything else of a busy machine.
t.setTimeout(240_000);

/** `writ` as a process group of its own. */
function start({ root, env }: Sample, temporary: string, args: readonly string[]) {
  const child = spawn(process.execPath, [...launcherOptions, writProgram, '--json', ...args], {
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

/** What the provenance of the sealed commit lists. */
async function listed(sample: Sample, temporary: string): Promise<readonly object[]> {
  const { said } = await start(sample, temporary, ['verify', 'main']).ended;
  const { data } = JSON.parse(said().slice(said().indexOf('{')));
  return data.targets[0].models.map(({ claimed = false, exchanges }: ModelWork) => ({
    claimed,
    calls: exchanges.length,
  }));
}

long('a killed run restarts its attempt, and a call that left the machine is not repeated', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const temporary = join(sample.home, 'tmp');
  mkdirSync(temporary);
  const spec = join(sample.home, 'intent.json');
  writeFileSync(
    spec,
    sampleSpec({
      security: { toolAcl: { allow: everything as never } },
      constraints: { security: { networkPolicy: 'allow' } },
    }),
  );
  // Nobody has such a name (RFC 6761); that it was asked for has left the machine.
  const command = 'curl -s http://registry.invalid/; echo once >> src/effect.txt; sleep 300';
  const again = [
    {
      calls: [
        ['shell', { command }],
        ['shell', { command: 'cat src/effect.txt' }],
      ],
    },
    { calls: [mending] },
    { calls: [ending] },
  ] as const;
  await using model = await scriptModel([
    {
      calls: [
        ['shell', { command: 'echo stays here' }],
        ['shell', { command }],
      ],
    },
    ...again,
    ...again,
  ]);
  const line = ['run', spec, '--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const first = start(sample, temporary, line);
  const effects = () => globSync('**/src/effect.txt', { cwd: temporary });
  let isOver = false;
  void first.ended.then(() => (isOver = true));
  await until(() => isOver || effects().length > 0, 'the effect of the call');
  process.kill(-first.pid, 'SIGKILL');
  await first.ended;
  t.equal(model.asked.length, 1, first.said());
  const [run = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));

  const shown = await start(sample, temporary, ['show', run]).ended;
  t.match(shown.said(), /1 call of a model had left this machine/);
  t.match(shown.said(), /`--repeat-calls`/);

  // The same run, of which nobody knows any more who wrote its journal.
  const unproven = makeSample();
  t.teardown(() => unproven.remove());
  rmSync(unproven.root, { recursive: true });
  cpSync(sample.root, unproven.root, { recursive: true });

  const { code, said } = await start(sample, temporary, ['resume', run]).ended;
  t.equal(code, 0, said());
  t.strictSame(
    await listed(sample, temporary),
    [{ claimed: false, calls: 4 }],
    'no call before the kill is lost',
  );
  const asked = () =>
    model.asked.map(
      ({ body }) =>
        (body as { readonly messages: readonly { readonly role: string; readonly content: string }[] })
          .messages,
    );
  const [, anew = [], next = []] = asked();
  t.strictSame(
    anew.map(({ role }) => role),
    ['system', 'user'],
    'it is asked anew',
  );
  t.match(anew.at(-1)?.content, /curl -s [\s\S]*is unknown; the very same call is refused/);
  t.notMatch(anew.at(-1)?.content, 'stays here', 'what stayed on the machine is no secret to keep');
  const answers = next.filter(({ role }) => role === 'tool').map(({ content }) => content);
  t.match(answers[0], /denied: an attempt that was interrupted had made this very call/);
  t.match(answers[1], /No such file/, 'anything else is done, and what the killed call did is gone');
  t.strictSame(effects(), [], 'and no workspace of it is left');
  const { data: view } = JSON.parse(said().slice(said().indexOf('{')));
  t.match(view.notices.join('\n'), /1 call of a model had left this machine[\s\S]*curl/);
  t.match(
    view.tool_uses.tools.find(({ tool }: { tool: string }) => tool === 'workspace.command'),
    { done: 0, failed: 1, denied: 1, unknown: 1 },
  );
  t.notMatch(sample.git('ls-tree', '-r', '--name-only', 'main'), 'effect.txt');

  const known = await start(unproven, temporary, ['resume', run, '--onto', 'main']).ended;
  t.equal(known.code, 0, known.said());
  const toldAnew = asked()[5] ?? [];
  t.match(
    toldAnew.filter(({ role }) => role === 'tool')[0]?.content,
    /denied: an attempt that was interrupted/,
    'a journal that nobody vouches for is believed as far as it forbids',
  );
  t.match(known.said(), /evaluated again/);
  t.strictSame(await listed(unproven, temporary), [
    { claimed: true, calls: 1 },
    { claimed: false, calls: 3 },
  ]);
});
