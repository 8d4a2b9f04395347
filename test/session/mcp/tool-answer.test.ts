import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { readResource, threadsOf } from '../../../session/mcp/resources.ts';
import { fitData, toRefusalAnswer } from '../../../session/mcp/tool.ts';
import { threadPlace } from '../thread/said-thread.ts';
import { personRepository } from '../vcs/person-repository.ts';

t.test(
  'a refusal contains the code, expected and found values and hints, but no absolute path',
  async (t) => {
    const cwd = '/srv/work/project';
    const fault = new WritError('INPUT_UNREADABLE', {
      message: `\`${cwd}/src/a.ts\` cannot be read, nor ${homedir()}/.ssh/key, nor /var/lib/x/y.txt:3`,
      detail: { expected: 'a file', found: [`${cwd}/src`], deep: { path: '/etc/ssl/private/key.pem' } },
      hints: [`look at ${cwd}`],
    });
    const answer = toRefusalAnswer(fault, cwd);
    t.match(answer, { isError: true, structuredContent: { error: { code: 'INPUT_UNREADABLE' } } });
    t.equal(
      answer.content[0]?.text,
      [
        'INPUT_UNREADABLE: `src/a.ts` cannot be read, nor ~/.ssh/key, nor <path>/y.txt:3',
        'expected: a file',
        'found: ["src"]',
        'hint: look at .',
      ].join('\n'),
    );
    t.notMatch(JSON.stringify(answer), /srv|private/);
    const ours = toRefusalAnswer(new TypeError(`cannot read ${cwd}`), cwd);
    t.strictSame(ours.structuredContent, {
      error: { code: 'INTERNAL_ERROR', message: 'the server failed' },
    });
  },
);

t.test('an answer that is too long has its longest lists cut and marked as truncated', async (t) => {
  const data = { id: 'x', few: [1, 2], many: Array.from({ length: 10_000 }, (_, at) => `finding ${at}`) };
  const fitted = fitData(data, 4096) as typeof data & { readonly truncated: object };
  t.ok(JSON.stringify(fitted).length <= 4096);
  t.match(fitted, { id: 'x', few: [1, 2], truncated: { many: 10_000 } });
  t.equal(fitData(data, 1_000_000), data);
  t.throws(() => fitData({ text: 'x'.repeat(5000) }, 4096), { code: 'OUTPUT_TOO_LARGE' });
});

t.test('`readResource` reads evidence that the run lists by digest, and nothing else', async (t) => {
  const { root: cwd, env, git } = personRepository();
  const tree = execFileSync('git', ['-C', cwd, 'write-tree'], { env, encoding: 'utf8' }).trim();
  git(
    'update-ref',
    'refs/ai/content/r1',
    execFileSync('git', ['-C', cwd, 'commit-tree', '-m', 'x', tree], { env, encoding: 'utf8' }).trim(),
  );
  const artifacts = [
    { path: 'a.txt', sha256: 'aa', content_type: 'text/x-log' },
    { path: 'gone.txt', sha256: 'bb', content_type: 'text/plain' },
  ];
  const ground = {
    cwd,
    version: '0',
    readsOnly: () => false,
    approval: { policy: 'never' },
    log: () => {},
    ask: async () => ({ data: { artifacts, content_ref: 'refs/ai/content/r1' } }),
    threads: {
      list: async () => [{ id: 't1' }],
      read: async (id: string) => (id === 't1' ? { id } : undefined),
    },
  } as const;
  const { signal } = new AbortController();
  const read = (uri: string) => readResource(ground, uri, signal);
  t.strictSame(await read('writ://runs/r1/evidence/aa'), { text: 'two\n', mimeType: 'text/x-log' });
  t.match(await read('writ://threads/t1'), { text: '{"id":"t1"}' });
  for (const uri of [
    'writ://runs/r1/evidence/bb',
    'writ://runs/r1/evidence/cc',
    'writ://runs/r1/evidence/aa/x',
    'writ://runs/..%2f/evidence/aa',
    'writ://runs/-x',
    'writ://threads/t2',
    'writ://',
    'writ://keys',
    'WRIT://runs',
    'http://runs',
    '',
  ])
    await t.rejects(read(uri), { code: 'NOT_FOUND' }, uri);
});

t.test('a thread resource contains its transcript and whether the local witness proves it', async (t) => {
  const { repository, witness, say } = threadPlace(t.testdir());
  await say('t1', 1000, [2000, 'mend the price']);
  const { list, read } = threadsOf(repository, witness);
  t.match(await list(), [{ id: 't1', title: 'mend the price', createdAt: '1970-01-01T00:00:01.000Z' }]);
  const transcript = [
    { kind: 'user_message', content: 'mend the price', createdAt: '1970-01-01T00:00:02.000Z' },
  ];
  t.strictSame(await read('t1'), { id: 't1', proven: true, earlier: 0, transcript });
  const stranger = threadsOf(repository, { look: async () => ({}) } as never);
  t.match(await stranger.read('t1'), { proven: false });
  await t.rejects(read('t2'), { code: 'THREAD_NOT_FOUND' });
});
