import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { codeCommands } from '../../../bin/command-table/code-commands.ts';
import { listResumable } from '../../../bin/commands/threads.ts';
import { createPrinter } from '../../../bin/terminal/print.ts';
import { threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { makeSample } from '../../engine/sample.ts';
import { sayIn } from '../../session/thread/said-thread.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.test('`--resume` without a thread lists the threads and names the line that resumes one', async (t) => {
  const { root, env, remove } = makeSample();
  t.teardown(remove);
  const list = (...more: readonly string[]) =>
    runLine(['code', '--resume', ...more], codeCommands, { cwd: root, env });
  const none = await list();
  t.match(none, { code: 0, out: /no threads yet: `writ code` begins one/ });

  const repository = await openRepository(root);
  const say = sayIn(repository, t.testdir());
  await say('closed-one', 1000, [60_000, 'make it exact']);
  await say('open-one', 2000, [120_000, 'another']);
  const damaged = await say('torn-one', 3000, [180_000, 'the third']);
  appendFileSync(join(damaged, 'journal.jsonl'), 'no record\n');
  await say('silent-one', 4000);
  const lock = await acquireProcessLock(join(threadDirectory(repository, 'open-one'), 'lock'), {
    busy: () => new Error('busy') as never,
  });
  t.teardown(() => lock.release());

  const { code, out } = await list('--json');
  t.equal(code, 0);
  const { data } = JSON.parse(out);
  t.strictSame(faultsOf('code', data), []);
  t.strictSame(
    data.threads.map(({ id, title, state }: Record<string, string>) => [id, title, state]),
    [
      ['torn-one', 'the third', 'damaged'],
      ['open-one', 'another', 'open'],
      ['closed-one', 'make it exact', 'closed'],
      ['silent-one', undefined, 'closed'],
    ],
  );

  const written: string[] = [];
  const sink = { write: (text: string) => void written.push(text), flush: async () => {} } as never;
  const print = createPrinter(sink, sink, { quiet: false, colourOut: false, colourErr: false, before() {} });
  const result = await listResumable({ print, json: false }, { workingDir: root }, { now: () => 3_780_000 });
  result.human?.(print);
  t.match(written.join(''), /^torn-one +1h ago +damaged +the third$/m);
  t.match(written.join(''), /^silent-one +1h ago +closed +\(nothing was said\)$/m);
  t.match(written.join(''), /`writ code --resume THREAD` resumes one that is closed/);
});
