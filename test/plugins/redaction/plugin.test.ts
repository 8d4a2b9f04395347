import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { createHooks, hooksFor } from '../../../core/kernel/hooks.ts';
import { createPool } from '../../../core/kernel/worker/pool.ts';
import { redactionPlugin } from '../../../plugins/redaction/plugin.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';

const policy = { remove: ['secrets'], beyond: ['secrets', 'pii'], words: {} } as const;
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';

const pool = createPool({ clock: systemClock, threads: 2 });
t.teardown(() => pool.close());

function loaded() {
  const hooks = createHooks({ clock: systemClock, timeoutMs: 60_000, report: () => {} });
  const context = {
    hooks: hooksFor(hooks, 'redaction'),
    pool,
  } as unknown as Parameters<typeof redactionPlugin.setup>[0];
  redactionPlugin.setup(context, undefined);
  for (const hook of [hooks.artifact.redact, hooks.frame.admit, hooks.frame.redact]) hook.freeze();
  return hooks;
}

t.test('the hook redacts secrets in an artifact and counts them', async (t) => {
  const bytes = Buffer.from(`a ${token} b ${token}\n`);
  const answer = await loaded().artifact.redact.call({
    name: 'test-log',
    contentType: 'text/plain',
    bytes,
    policy,
    redactions: 1,
    receipt: [],
  });
  t.equal(
    Buffer.from(answer.bytes).toString(),
    'a [redacted:secrets:github-token] b [redacted:secrets:github-token]\n',
  );
  t.equal(answer.redactions, 3);
  t.equal(answer.name, 'test-log');
});

t.test('the hook leaves an artifact without secrets unchanged', async (t) => {
  const artifact = {
    name: 'build-log',
    contentType: 'text/plain',
    bytes: Buffer.from('ok\n'),
    policy,
    redactions: 0,
    receipt: [],
  };
  t.same(await loaded().artifact.redact.call(artifact), artifact);
});

const entry = (kind: 'File' | 'Snippet', text: string) =>
  ({
    runId: 'r',
    form: 'item',
    kind,
    name: 'a.ts',
    trustTier: 'repo',
    tags: {},
    bytes: Buffer.from(text),
    policy,
  }) as const;

t.test('keeps a file out of the context if it holds data of a forbidden class', async (t) => {
  const hooks = loaded();
  t.match(await hooks.frame.admit.call(entry('File', 'ask ann@corp.io\n')), {
    message: /class `pii` \(email\)/,
    detail: { class: 'pii', found: 'email' },
  });
  t.match(await hooks.frame.admit.call(entry('File', `key ${token}\n`)), { detail: { class: 'secrets' } });
  t.equal(
    await hooks.frame.admit.call(entry('File', 'ask ann@example.com\n')),
    undefined,
    'reserved for documents',
  );
  t.equal(await hooks.frame.admit.call(entry('Snippet', 'ask ann@corp.io\n')), undefined, 'redacted instead');
});

t.test('redacts data of forbidden classes in a snippet for the context', async (t) => {
  const answer = await loaded().frame.redact.call(entry('Snippet', `ask ann@corp.io, ${token}\n`));
  t.equal(
    Buffer.from(answer.bytes).toString(),
    'ask [redacted:pii:email], [redacted:secrets:github-token]\n',
  );
});

t.test('redacts a large artifact in a thread without blocking the event loop', async (t) => {
  const hooks = loaded();
  const bytes = Buffer.from(
    `${'a line of a log that says nothing in particular\n'.repeat(40_000)}key ${token}\n`,
  );
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 5);
  const answer = await hooks.artifact.redact.call({
    name: 'test-log',
    contentType: 'text/plain',
    bytes,
    policy,
    redactions: 0,
    receipt: [],
  });
  clearInterval(ticking);
  t.ok(turns > 3, `${turns} turns`);
  t.ok(Buffer.from(answer.bytes).toString().endsWith('key [redacted:secrets:github-token]\n'));
  t.match(answer.receipt, [{ rule: 'github-token', count: 1 }]);
});
