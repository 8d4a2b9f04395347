import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SandboxBackend, SandboxRequest } from '../../../../core/contract/sandbox.ts';
import { checkRuntime } from '../../../../engine/tool/runtime/check-runtime.ts';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { currentHostFacts } from '../../../../plugins/sandbox/host-view.ts';
import { noSandbox } from '../../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../../plugins/sandbox/unshare.ts';
import { instant } from '../../../waiting/instant.ts';

const major = Number(process.versions.node.split('.')[0]);
const mismatch = (tool: string, found: string | null) => ({
  code: 'RUNTIME_MISMATCH',
  exitCode: 128,
  detail: { tool, found },
});

/** No sandbox over a PATH that holds only these scripts before the rest. */
function withTools(t: { testdir(): string }, tools: Readonly<Record<string, string>>): SandboxBackend {
  const directory = t.testdir();
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return noSandbox({ ...currentHostFacts(), path: `${directory}:/usr/bin:/bin` });
}

for (const backend of [bubblewrapSandbox(), unshareSandbox(), noSandbox()]) {
  t.test(`the tools that \`${backend.name}\` shows are asked and compared`, async (t) => {
    if (!(await backend.probe()).works) return t.comment('does not work on this machine');
    t.strictSame(await checkRuntime(backend, `node>=${major}, node^${major}`), {
      node: process.versions.node,
    });
    await t.rejects(checkRuntime(backend, `node>=${major + 1}`), {
      ...mismatch('node', process.versions.node),
      detail: { expected: `node>=${major + 1}`, sandbox: backend.name },
    });
  });
}

t.test('blank text asks nothing, not even the sandbox', async (t) => {
  const never: SandboxBackend = { ...noSandbox(), run: () => Promise.reject(new Error('asked')) };
  t.strictSame(await checkRuntime(never, ''), {});
  await t.rejects(checkRuntime(never, 'node'), {
    code: 'INTENTSPEC_INVALID',
    detail: {
      issues: [{ code: 'SEMANTIC_LANGUAGE_RUNTIME', path: '/constraints/platform/languageRuntime' }],
    },
  });
});

t.test('each tool’s own way of saying its version is understood', async (t) => {
  const sandbox = withTools(t, {
    go: '[ "$1" = version ] && echo "go version go1.22.4 linux/amd64"',
    java: 'echo \'openjdk version "1.8.0_392"\' >&2',
    javac: 'echo "javac 21.0.2"',
    perl: 'printf "\\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x\\n"',
    python3: 'exit 1',
    python: 'echo Python 3.12.1',
  });
  t.strictSame(await checkRuntime(sandbox, 'go>=1.22 java=8 jdk>=21 perl>=5.30 python~3.12'), {
    go: '1.22.4',
    java: '1.8.0',
    jdk: '21.0.2',
    perl: '5.36.0',
    python: '3.12.1',
  });
  await t.rejects(checkRuntime(sandbox, 'java>=11'), mismatch('java', '1.8.0'));
});

t.test('a tool that is missing, fails, says nothing or takes too long is not there', async (t) => {
  const sandbox = withTools(t, {
    go: 'echo nothing of the kind 1.22',
    ruby: 'echo ruby 3.3.0; exit 3',
    php: 'true',
    deno: 'sleep 30; echo deno 2.0.0',
  });
  for (const tool of ['go', 'ruby', 'php', 'dotnet'])
    await t.rejects(checkRuntime(sandbox, `${tool}>=1`), mismatch(tool, null), tool);
  const started = performance.now();
  await t.rejects(checkRuntime(sandbox, 'deno>=1', { timeoutMs: 300 }), mismatch('deno', null));
  t.ok(performance.now() - started < 10_000);
});

t.test(
  'a tool that is named twice is asked once, without network, and nothing of it is left behind',
  async (t) => {
    const requests: SandboxRequest[] = [];
    const real = noSandbox();
    const watched: SandboxBackend = {
      ...real,
      run: (request) => {
        requests.push(request);
        return real.run(request);
      },
    };
    const seen = async (request: SandboxRequest): Promise<SandboxRequest> => {
      requests.push(request);
      return request;
    };
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('writ-runtime-'));
    const binds = [{ source: '/usr/share', target: '/opt/shared', writable: false }];
    await checkRuntime(watched, 'node>=1 node>=2', { binds: [] });
    t.strictSame(
      requests.map(({ argv, env }) => [argv, env]),
      [[['node', '--version'], { CI: 'true' }]],
    );
    await checkRuntime(
      { ...watched, run: async (request) => real.run({ ...(await seen(request)), binds: [] }) },
      'node>=1',
      {
        binds,
      },
    );
    t.strictSame(requests.at(-1)?.binds, binds, 'tools that are lent to the checks are seen');
    const named: unknown[] = [];
    const { unconfined: _, ...confined } = real;
    const sealed: SandboxBackend = {
      ...confined,
      name: 'sealed',
      run: (request) => {
        named.push(request.network);
        return real.run({ ...request, network: 'host' });
      },
    };
    await checkRuntime(sealed, 'node>=1');
    t.strictSame(named, ['none']);
    const left = readdirSync(tmpdir()).filter(
      (name) => name.startsWith('writ-runtime-') && !before.includes(name),
    );
    t.strictSame(left, []);
  },
);

t.test('an interruption is passed on, not taken for a missing tool', async (t) => {
  const controller = new AbortController();
  const reason = new Error('stopped');
  const sandbox = withTools(t, { deno: 'sleep 30' });
  void instant(100).then(() => controller.abort(reason));
  await t.rejects(checkRuntime(sandbox, 'deno>=1', { signal: controller.signal }), reason);
});
