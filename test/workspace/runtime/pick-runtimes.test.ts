import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { SandboxBackend, SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { currentHostFacts } from '../../../plugins/sandbox/host-view.ts';
import { noSandbox } from '../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { pickRuntimes, type RuntimePlace, withTools } from '../../../workspace/runtime/pick-runtimes.ts';
import { instant } from '../../waiting/instant.ts';

const major = Number(process.versions.node.split('.')[0]);
const mismatch = (tool: string, found: string | null) => ({
  code: 'RUNTIME_MISMATCH',
  exitCode: 128,
  detail: { tool, found },
});

/** Versions where no toolchain manager is. */
async function checkRuntime(sandbox: SandboxBackend, text: string, place: RuntimePlace = {}) {
  const toolchains = { home: '/nowhere', env: {} };
  return (await pickRuntimes(sandbox, text, { toolchains, ...place })).versions;
}

/** No sandbox over a PATH that holds only these scripts before the rest. */
function shownTools(t: { testdir(): string }, tools: Readonly<Record<string, string>>): SandboxBackend {
  const directory = t.testdir();
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return noSandbox({ ...currentHostFacts(), path: `${directory}:/usr/bin:/bin` });
}

/** One tool on PATH, and where it is. */
function shownAs(t: { teardown(done: () => void): void }, name: string, script: string) {
  const directory = mkdtempSync(join(tmpdir(), 'writ-tools-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { path, backend: noSandbox({ ...currentHostFacts(), path: `${directory}:/usr/bin:/bin` }) };
}

for (const backend of [bubblewrapSandbox(), unshareSandbox(), noSandbox()]) {
  t.test(`versions of tools in the \`${backend.name}\` sandbox are queried and compared`, async (t) => {
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

t.test('blank text queries no tool and does not start the sandbox', async (t) => {
  const never: SandboxBackend = { ...noSandbox(), run: () => Promise.reject(new Error('asked')) };
  t.strictSame(await checkRuntime(never, ''), {});
  await t.rejects(checkRuntime(never, 'node'), {
    code: 'INTENTSPEC_INVALID',
    detail: {
      issues: [{ code: 'SEMANTIC_LANGUAGE_RUNTIME', path: '/constraints/platform/languageRuntime' }],
    },
  });
});

t.test('the version output of each tool is understood', async (t) => {
  const sandbox = shownTools(t, {
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

t.test('a tool that is missing, fails, prints no version or times out counts as absent', async (t) => {
  const sandbox = shownTools(t, {
    go: 'echo nothing of the kind 1.22',
    ruby: 'echo ruby 3.3.0; exit 3',
    php: 'true',
    deno: 'sleep 30; echo deno 2.0.0',
  });
  for (const tool of ['go', 'ruby', 'php', 'dotnet'])
    await t.rejects(checkRuntime(sandbox, `${tool}>=1`), mismatch(tool, null), tool);
  await t.rejects(checkRuntime(sandbox, 'deno>=1', { timeoutMs: 300 }), mismatch('deno', null));
});

t.test('a tool that is named twice is queried once, without network, and leaves no files', async (t) => {
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
});

t.test('an abort is rethrown and not mistaken for a missing tool', async (t) => {
  const controller = new AbortController();
  const reason = new Error('stopped');
  const sandbox = shownTools(t, { deno: 'sleep 30' });
  void instant(100).then(() => controller.abort(reason));
  await t.rejects(checkRuntime(sandbox, 'deno>=1', { signal: controller.signal }), reason);
});

/** A home in which managers have these programs, each a script. */
function homeWith(
  t: { teardown(done: () => void): void },
  programs: Readonly<Record<string, string>>,
): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-home-of-tools-')));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  for (const [path, script] of Object.entries(programs)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `#!/bin/sh\n${script}\n`);
    chmodSync(join(home, path), 0o755);
  }
  return home;
}

const says = (version: string) => `cat "$(dirname "$0")/../lib/words" 2>/dev/null || echo v${version}`;

for (const backend of [bubblewrapSandbox(), unshareSandbox(), noSandbox()]) {
  t.test(
    `a runtime of a version manager is picked and comes first on the PATH of \`${backend.name}\``,
    async (t) => {
      if (!(await backend.probe()).works) return t.comment('does not work on this machine');
      const home = homeWith(t, {
        '.nvm/versions/node/v97.0.0/bin/node': says('97.0.0'),
        '.nvm/versions/node/v98.2.1/bin/node': says('98.2.1'),
        '.nvm/versions/node/v98.2.1/lib/words': '',
        '.nvm/versions/node/v120.0.0/bin/node': says('120.0.0'),
      });
      writeFileSync(join(home, '.nvm/versions/node/v98.2.1/lib/words'), 'v98.2.1\n');
      const toolchains = { home, env: {} };
      const bin = join(home, '.nvm/versions/node/v98.2.1/bin');
      const picked = await pickRuntimes(backend, 'node~98 node>=98.2', { toolchains });
      t.strictSame(picked, { versions: { node: '98.2.1', 'node.toolchain': 'nvm' }, tools: [bin] });
      const root = t.testdir({ workspace: {}, reports: {} });
      const ran = await withTools(backend, picked.tools).run({
        argv: ['sh', '-c', 'command -v node && node --version'],
        workspace: join(root, 'workspace'),
        reports: join(root, 'reports'),
        binds: [],
        env: {},
        network: backend.unconfined ? 'host' : 'none',
        timeoutMs: 20_000,
        maxOutputBytes: 4096,
      });
      t.equal(String(ran.stdout.bytes), `${join(bin, 'node')}\nv98.2.1\n`);
      const shown = await pickRuntimes(backend, `node^${major}`, { toolchains });
      t.strictSame(shown, { versions: { node: process.versions.node }, tools: [] }, 'what is there is taken');
    },
  );
}

t.test('version managers are searched at their usual place or where their variable points', async (t) => {
  const home = homeWith(t, {
    '.local/share/mise/installs/python/3.97.1/bin/python3': 'echo Python 3.97.1',
    '.asdf/installs/golang/97.3/go/bin/go': 'echo go version go97.3 linux/amd64',
    '.pyenv/versions/3.96.0/bin/python3': 'echo Python 3.96.0',
    'elsewhere/toolchains/stable-x86_64-unknown-linux-gnu/bin/rustc': 'echo rustc 97.1.0',
    '.sdkman/candidates/java/97.0.2-tem/bin/java': 'echo openjdk 97.0.2 >&2',
  });
  const toolchains = { home, env: { RUSTUP_HOME: join(home, 'elsewhere') } };
  const { versions } = await pickRuntimes(noSandbox(), 'python=3.97 python3>=3.97 go>=97 rust>=97 java=97', {
    toolchains,
  });
  t.match(versions, {
    python: '3.97.1',
    'python.toolchain': 'mise',
    'go.toolchain': 'asdf',
    rust: '97.1.0',
    'rust.toolchain': 'rustup',
    'java.toolchain': 'sdkman',
  });
});

t.test(
  'a runtime that is mislabelled, writable by others or outside its manager is not picked',
  async (t) => {
    const home = homeWith(t, {
      '.nvm/versions/node/v99.0.0/bin/node': 'echo v18.0.0',
      '.nvm/versions/node/v98.0.0/bin/node': 'echo v98.0.0',
      'outside/bin/node': 'echo v97.0.0',
    });
    chmodSync(join(home, '.nvm/versions/node/v98.0.0/bin'), 0o777);
    symlinkSync(join(home, 'outside'), join(home, '.nvm/versions/node/v97.0.0'));
    const sandbox = shownAs(t, 'node', 'echo v20.1.0');
    await t.rejects(pickRuntimes(sandbox.backend, 'node>=97', { toolchains: { home, env: {} } }), {
      code: 'RUNTIME_MISMATCH',
      detail: {
        tool: 'node',
        expected: 'node>=97',
        found: '20.1.0',
        path: sandbox.path,
        offered: ['nvm v99.0.0'],
      },
    });
  },
);
