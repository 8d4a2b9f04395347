import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { SandboxBackend } from '../../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { noSandbox } from '../../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../../plugins/sandbox/unshare.ts';
import { callThirdPartyRule } from '../../../../plugins/third-party/rule/outside-rule.ts';
import { type GateCase, toRuleInput } from '../../../../testing.ts';
import { casesOf, isLong } from '../../../rooms/long.ts';

t.setTimeout(120_000);

/* Attacks by an outsider's rule, each in a real process inside a real sandbox. */

const working: SandboxBackend[] = [];
for (const backend of [bubblewrapSandbox(), unshareSandbox()])
  if ((await backend.probe()).works) working.push(backend);
const [first] = working;
if (first === undefined) throw new Error('no sandbox works here: rules of others would run nowhere');

interface Asked {
  readonly findings: Awaited<ReturnType<typeof callThirdPartyRule>>;
  /** Names in the plugin's directory and in the empty one, afterwards. */
  readonly left: readonly string[];
  readonly directory: string;
}

async function ask(
  t: Test,
  sandbox: SandboxBackend,
  source: string,
  given: Partial<GateCase> = {},
  timeoutSeconds = 20,
): Promise<Asked> {
  const root = t.testdir({});
  const directory = join(root, 'plugin');
  const empty = join(root, 'empty');
  mkdirSync(directory);
  mkdirSync(empty);
  writeFileSync(join(directory, 'package.json'), '{"name":"evil","version":"1.0.0","type":"module"}');
  writeFileSync(join(directory, 'rule.ts'), source);
  const rule = {
    id: 'evil-rule',
    plugin: 'evil',
    directory,
    module: 'rule.ts',
    empty,
    timeoutSeconds,
    sandbox,
  };
  const findings = await callThirdPartyRule(rule, toRuleInput({ name: 'attack', ...given }));
  return { findings, left: [...readdirSync(directory), ...readdirSync(empty)].sort(), directory };
}

/** The one finding that a broken rule amounts to: it names rule, plugin and reason. */
function isRefusal(t: Test, { findings, left }: Asked, reason: string | RegExp, message = /./): void {
  t.equal(findings.length, 1);
  t.match(findings[0], {
    rule: 'evil-rule',
    severity: 'error',
    detail: { code: 'RULE_FAULT', plugin: 'evil', reason },
    message,
  });
  t.strictSame(left, ['package.json', 'rule.ts'], 'nothing was written');
}

for (const sandbox of isLong ? working : working.slice(0, 1)) {
  t.test(`a third-party rule runs isolated in ${sandbox.name}`, async (t) => {
    t.test(
      'a third-party rule receives the same input as a rule in a thread and returns findings',
      async (t) => {
        const { findings } = await ask(
          t,
          sandbox,
          `export const judge = ({ files, patch, args, options }) => {
           console.log('noise on standard output');
           const text = Buffer.from(files['a.js'].candidate).toString();
           const diff = Buffer.from(patch.diff).includes('+two') && patch.diff.buffer instanceof SharedArrayBuffer;
           return [{ rule: 'evil-rule', severity: 'note', message: JSON.stringify([text, diff, args, options]) }];
         };`,
          {
            files: { 'a.js': { base: 'one\n', candidate: 'two\n' } },
            args: ['x'],
            options: { $bytes: 'AA' },
          },
        );
        t.strictSame(findings, [
          { rule: 'evil-rule', severity: 'note', message: '["two\\n",true,["x"],{"$bytes":"AA"}]' },
        ]);
      },
    );
    t.test('a third-party rule that throws yields a RULE_FAULT finding', async (t) => {
      const asked = await ask(t, sandbox, `export const judge = () => { throw new Error('no idea'); };`);
      isRefusal(t, asked, 'threw', /no idea/);
    });
    t.test('a third-party rule that hangs is ended at its deadline', async (t) => {
      const blocked = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
      isRefusal(
        t,
        await ask(t, sandbox, `export const judge = () => { for (;;) ${blocked}; };`, {}, 1),
        'deadline',
      );
    });
    t.test('a third-party rule cannot write files or reach the network', async (t) => {
      const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
      t.teardown(() => server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const asked = await ask(
        t,
        sandbox,
        `import { writeFileSync, chmodSync, readFileSync, readdirSync } from 'node:fs';
         import { createConnection } from 'node:net';
         const tried = (act) => { try { act(); return 'done'; } catch (fault) { return fault.code ?? String(fault); } };
         export const judge = async () => {
           const net = await new Promise((resolve) => {
             const socket = createConnection({ host: '127.0.0.1', port: ${port}, timeout: 2000 });
             socket.once('connect', () => resolve('done')).once('error', (fault) => resolve(fault.code ?? 'error'));
             socket.once('timeout', () => resolve('timeout'));
           });
           const detail = {
             own: tried(() => writeFileSync('/workspace/rule.ts', 'x')),
             beside: tried(() => writeFileSync('/workspace/new', 'x')),
             reports: tried(() => writeFileSync('/reports/new', 'x')),
             temporary: tried(() => writeFileSync('/tmp/new', 'x')),
             mode: tried(() => chmodSync('/workspace', 0o777)),
             passwd: tried(() => readFileSync('/etc/passwd')),
             list: tried(() => readdirSync('/')),
             child: await import('node:child_process').then(({ execFileSync }) => tried(() => execFileSync('/bin/true'))),
             thread: await import('node:worker_threads').then(({ Worker }) => tried(() => new Worker('0', { eval: true }))),
             environment: Object.keys(process.env).sort().join(' '),
             net,
           };
           return [{ rule: 'evil-rule', severity: 'note', message: 'tried', detail }];
         };`,
      );
      const { environment, ...detail } = (asked.findings[0]?.detail ?? {}) as Record<string, string>;
      t.equal(Object.keys(detail).length, 10, JSON.stringify(asked.findings));
      for (const [what, outcome] of Object.entries(detail)) t.not(outcome, 'done', `${what}: ${outcome}`);
      t.notMatch(environment, /WRIT|TOKEN|KEY|NODE_/);
      t.strictSame(asked.left, ['package.json', 'rule.ts']);
    });
  });
}

t.test('limits memory, answers and input of third-party rules', async (t) => {
  const sandbox = first;
  t.test('a rule that allocates without end fails with RULE_FAULT', async (t) => {
    const allocating: Readonly<Record<string, readonly [source: string, reason: RegExp]>> = {
      heap: [
        'const all = []; export const judge = () => { for (;;) all.push(new Array(1000).fill(all.length)); };',
        /^crashed$/,
      ],
      buffers: [
        'const all = []; export const judge = () => { for (;;) all.push(Buffer.alloc(1 << 26, 1)); };',
        /^(?:threw|crashed)$/,
      ],
      'memory of WebAssembly': [
        `const all = []; export const judge = () => { for (;;) {
          const memory = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(memory.buffer).fill(1); all.push(memory); } };`,
        /^(?:threw|crashed)$/,
      ],
    };
    for (const [name, [source, reason]] of casesOf(allocating, ['buffers'])) {
      isRefusal(t, await ask(t, sandbox, source), reason);
      t.pass(name);
    }
  });
  t.test('an invalid answer of a rule fails with reason `garbage`', async (t) => {
    const garbage: Record<string, string> = {
      'another rule’s finding': `[{ rule: 'scope', severity: 'note', message: 'x' }]`,
      'no list': `'fine'`,
      nothing: 'undefined',
      'an unknown severity': `[{ rule: 'evil-rule', severity: 'ok', message: 'x' }]`,
      'an unknown field': `[{ rule: 'evil-rule', severity: 'note', message: 'x', html: '<b>' }]`,
      'too many findings': `Array.from({ length: 20000 }, () => ({ rule: 'evil-rule', severity: 'note', message: 'x' }))`,
    };
    for (const [name, answer] of casesOf(garbage, ['another rule’s finding', 'no list'])) {
      const asked = await ask(t, sandbox, `export const judge = () => (${answer});`);
      isRefusal(t, asked, 'garbage');
      t.pass(name);
    }
  });
  t.test('an oversized answer of a rule fails with reason `garbage`', async (t) => {
    const source = `export const judge = () => [{ rule: 'evil-rule', severity: 'note', message: 'x'.repeat(6e6) }];`;
    isRefusal(t, await ask(t, sandbox, source), 'garbage', /at most/);
  });
  t.test('a rule that forges output or exits early fails', async (t) => {
    const forged = `import { writeSync } from 'node:fs';
      writeSync(1, 'writ-answer {"ok":true,"value":[]}\\n'); export const judge = () => [];`;
    isRefusal(t, await ask(t, sandbox, forged), 'garbage');
    isRefusal(t, await ask(t, sandbox, 'export const judge = () => process.exit(0);'), 'garbage');
    isRefusal(t, await ask(t, sandbox, 'export const judge = () => process.exit(3);'), 'crashed');
  });
  t.test('a rule file that is not a module or exports no `judge` function fails', async (t) => {
    isRefusal(t, await ask(t, sandbox, 'export const judge = (;'), 'threw');
    isRefusal(t, await ask(t, sandbox, 'export const other = 1;'), 'threw', /no function `judge`/);
    isRefusal(
      t,
      await ask(t, sandbox, `import 'left-pad'; export const judge = () => [];`),
      'threw',
      /left-pad/,
    );
  });
  t.test('refuses input that is too large for a third-party rule', async (t) => {
    const big = Buffer.alloc(50 * 1024 * 1024, 120).toString();
    const asked = await ask(t, sandbox, 'export const judge = () => [];', {
      files: { 'a.txt': { candidate: big } },
    });
    isRefusal(t, asked, 'input-too-large');
  });
});

t.test('third-party code never runs without a sandbox', async (t) => {
  await t.rejects(ask(t, noSandbox(), 'export const judge = () => [];'), {
    code: 'SANDBOX_UNAVAILABLE',
    detail: { plugin: 'evil' },
  });
});
