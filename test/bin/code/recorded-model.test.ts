import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { readCodeLine } from '../../../bin/code/code-line.ts';
import { sessionEnvironment } from '../../../bin/code/serve-code.ts';
import { readSessionOptions } from '../../../bin/code/serve-line.ts';
import { codeCommands } from '../../../bin/command-table/code-commands.ts';
import { parseArguments } from '../../../bin/dispatch.ts';
import { createPrinter } from '../../../bin/terminal/print.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../../engine/sample.ts';
import { ground } from '../../session/state/walk.ts';

const sink = { write() {}, flush: async () => {} } as never;
const print = createPrinter(sink, sink, { quiet: true, colourOut: false, colourErr: false, before() {} });

t.test('a resumed thread keeps its provider, model and base URL unless the line names others', async (t) => {
  const { root, env, home, remove } = makeSample();
  t.teardown(remove);
  const repository = await openRepository(root);
  const witness = userJournalWitness({ HOME: home });
  const read = async (words: string) => {
    const invocation = parseArguments(['code', ...words.split(' ')], codeCommands);
    if (invocation.kind !== 'command') throw new Error(invocation.kind);
    const context = { options: invocation.options, cwd: root, env, print };
    return readSessionOptions(
      context,
      readCodeLine({ ...context, args: [], cwd: root }),
      repository,
      () => undefined,
      async () => ({ provider: 'gemini' }),
    );
  };
  const begin = async (threadId: string, provider: object, apiBase?: string) => {
    const directory = threadDirectory(repository, threadId);
    await using thread = await openThread(directory, threadId, { clock: systemClock, witness });
    const opened = { ...ground({ threadId }), provider: { managed: false, ...provider } as never };
    const whole = apiBase === undefined ? opened : { ...opened, apiBase };
    const type = thread.facts.length === 0 ? 'opened' : 'resumed';
    await thread.append([{ type, ground: whole, atMs: 1 }]);
  };
  const local = 'http://127.0.0.1:9999/v1';
  await begin('one', { provider: 'openai', model: 'gpt-6-luna' }, local);

  const model = async (words: string) => (await read(words)).model;
  const kept = { provider: 'openai', model: 'gpt-6-luna', apiBase: local, flags: {} };
  t.strictSame(await model('--resume one'), kept);
  t.strictSame(await model('--resume one --provider openai'), kept);
  t.strictSame(await model('--resume one --model other'), { ...kept, model: 'other' });
  const other = 'https://models.example.org/v1';
  const moved = await read(`--resume one --api-base ${other}`);
  t.strictSame(moved.model, { ...kept, apiBase: other });
  t.equal(sessionEnvironment(moved, { model: 'gpt-6-luna' }).apiBase, other, 'and it is recorded');
  t.strictSame(await model('--resume one --provider ollama'), { provider: 'ollama', flags: {} });
  t.match(await model('--resume none-such'), { provider: 'gemini' });

  await begin('one', { provider: 'kimi', model: 'kimi-k2.6' });
  t.strictSame(
    await model('--resume one'),
    { provider: 'kimi', model: 'kimi-k2.6', flags: {} },
    'the last session counts',
  );

  // A base over plain HTTP is refused when the model is opened: its host is compared with the policy commit.
  for (const base of ['https://u:pw-secret@example.org', 'file:///etc/passwd', 'x'.repeat(3000)]) {
    await begin('one', { provider: 'openai', model: 'm' }, base);
    await t.rejects(
      read('--resume one'),
      { code: 'PROVIDER_OPTION', detail: { place: 'thread' } },
      base.slice(0, 40),
    );
    await read('--resume one').catch((fault) => t.notMatch(JSON.stringify(fault.message), /pw-secret/));
    t.match(await model(`--resume one --api-base ${local}`), { apiBase: local }, 'an option wins');
  }
});
