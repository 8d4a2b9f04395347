import { readFileSync } from 'node:fs';
import t from 'tap';
import type { EffectiveCheck, EffectiveToolAcl } from '../../../core/interfaces/intentspec.gen.ts';
import { sampleSpecWith } from '../../../testing.ts';
import {
  commandProblems,
  guardCommand,
  guardTool,
  programsIn,
  shownPaths,
} from '../../../workspace/command-acl/acl.ts';
import { checkEnvironment } from '../../../workspace/process/find-program.ts';

const texts = (name: string) =>
  JSON.parse(readFileSync(new URL(`../shell/${name}.json`, import.meta.url), 'utf8')) as readonly string[];

const check = (id: string, kind: 'command' | 'policy', text: string): EffectiveCheck => ({
  id,
  kind,
  command: text,
  timeoutSeconds: 60,
  expectedExitCode: 0,
  required: true,
  artifactsProduced: [],
});

const variables = Object.keys(
  checkEnvironment({
    intentSpecId: '',
    intentSpecDigest: '',
    runId: '',
    workspace: '',
    baseSha: '',
    patchSetDigest: '',
    reportsDir: '',
  }),
);

type Constraints = Readonly<Record<string, unknown>>;
const command = (...constraints: readonly Constraints[]) =>
  constraints.map((given) => ({ tool: 'workspace.command', actions: ['execute'], constraints: given }));
const judge = (text: string, allow: readonly Constraints[], deny: readonly Constraints[] = []) =>
  guardCommand({ allow: command(...allow), deny: command(...deny) }, text, { variables });
const reasonOf = (...given: Parameters<typeof judge>) => judge(...given).refusal?.detail?.reason;

/** Everything that an attack could use, apart from the program that it wants to run. */
const generous = {
  allowCommands: [
    ...[
      'npm test',
      'npm run',
      'node',
      'echo',
      'cat',
      'tee',
      'test',
      '[',
      ':',
      'true',
      'exit',
      'cd',
      'set',
      'export',
    ],
    ...[
      'unset',
      'read',
      'sh',
      'bash',
      'env',
      'xargs',
      'find',
      'timeout',
      'nice',
      'nohup',
      'time',
      'command',
      'exec',
    ],
    ...[
      'setsid',
      'stdbuf',
      'sudo',
      'watch',
      'parallel',
      'busybox',
      'eval',
      'source',
      '.',
      'alias',
      'trap',
      'hash',
    ],
  ],
};

t.test('no spelling of a command runs a program that is not allowed', async (t) => {
  const attacks = texts('attacks');
  t.ok(attacks.length > 150);
  for (const text of attacks) {
    const { refusal } = judge(text, [generous]);
    t.match(refusal, { rule: 'acl', severity: 'error' }, encodeURI(text));
  }
});

t.test('an allow rule without constraints still refuses commands that cannot be proven', async (t) => {
  for (const text of [
    './evil',
    'eval evil',
    '$(evil) x',
    'PATH=. evil',
    'echo evil | sh',
    'evil(',
    'evil $SECRET',
  ]) {
    t.ok(judge(text, [{}]).refusal, text);
  }
  t.strictSame(judge('evil x', [{}]), {});
});

t.test('the commands of everyday checks are allowed', async (t) => {
  for (const text of texts('legitimate')) {
    t.strictSame(judge(text, [generous]), {}, text);
  }
});

t.test('an allow-list entry is a sequence of whole words at the start of a command', async (t) => {
  const allow = [{ allowCommands: ['npm test', 'node --test "a b"'] }];
  t.strictSame(judge('npm test -- x', allow), {});
  t.strictSame(judge('"npm" \'test\'', allow), {});
  t.strictSame(judge("node --test 'a b' c", allow), {});
  for (const text of ['npm', 'npm tests', 'npm run test', 'npm "test x"', 'node --test a b', 'NPM test']) {
    t.equal(reasonOf(text, allow), 'not-allowed', text);
  }
});

t.test('an allow-list entry that is not a plain sequence of words allows nothing', async (t) => {
  for (const entry of ['npm *', '*', 'npm test && npm run x', '$X', 'FOO=1 npm', 'npm|sh', '(npm)']) {
    t.equal(reasonOf('npm test', [{ allowCommands: [entry] }]), 'not-allowed', entry);
  }
  t.equal(reasonOf('npm test', [{ allowCommands: [] }]), 'not-allowed');
});

t.test('a wrapper needs its own entry besides the one for the wrapped command', async (t) => {
  t.equal(reasonOf('env A=1 npm test', [{ allowCommands: ['npm test'] }]), 'not-allowed');
  t.equal(reasonOf('env A=1 npm test', [{ allowCommands: ['env'] }]), 'not-allowed');
  t.strictSame(judge('env A=1 npm test', [{ allowCommands: ['env', 'npm test'] }]), {});
});

t.test('tool and action of an allow rule are matched exactly', async (t) => {
  for (const [tool, action] of [
    ['workspace.*', 'execute'],
    ['*', 'execute'],
    ['shell', 'execute'],
    ['workspace.command', '*'],
    ['workspace.command', 'read'],
    ['Workspace.Command', 'execute'],
  ] as const) {
    const toolAcl = { allow: [{ tool, actions: [action], constraints: {} }], deny: [] };
    t.equal(guardCommand(toolAcl, 'npm test', { variables }).refusal?.detail?.reason, 'not-allowed', tool);
  }
});

t.test('a deny rule takes precedence over any allow rule', async (t) => {
  const allow = [{}];
  t.equal(reasonOf('npm test', allow, [{}]), 'denied');
  t.equal(reasonOf('npm test; git push', allow, [{ allowCommands: ['git push'] }]), 'denied');
  t.equal(reasonOf('git $CI', allow, [{ allowCommands: ['git push'] }]), 'denied', 'it could become that');
  t.equal(reasonOf('git "p$CI"', allow, [{ allowCommands: ['git push'] }]), 'denied', 'it could become that');
  t.equal(
    reasonOf('git x$CI', allow, [{ allowCommands: ['git push'] }]),
    'denied',
    'nobody counts its words',
  );
  t.strictSame(judge('git "x$CI"', allow, [{ allowCommands: ['git push'] }]), {}, 'one word, another one');
  t.equal(reasonOf('npm test', allow, [{ allowCommands: ['$X'] }]), 'denied', 'an entry that cannot be read');
  t.strictSame(judge('git status', allow, [{ allowCommands: ['git push'] }]), {});
  t.strictSame(judge('git', allow, [{ allowCommands: ['git push'] }]), {});
  for (const [tool, action] of [
    ['workspace.command', 'read'],
    ['vcs.*', 'execute'],
    ['workspace', 'execute'],
    ['shell', '*'],
  ] as const) {
    const toolAcl = { allow: command({}), deny: [{ tool, actions: [action], constraints: {} }] };
    t.strictSame(guardCommand(toolAcl, 'npm test', { variables }), {}, `${tool} ${action}`);
  }
  for (const tool of ['*', 'workspace.*', 'workspace.command']) {
    const toolAcl = { allow: command({}), deny: [{ tool, actions: ['*'], constraints: {} }] };
    t.equal(guardCommand(toolAcl, 'npm test', { variables }).refusal?.detail?.reason, 'denied', tool);
  }
});

t.test('forbidden substrings are found in any case and through quotes', async (t) => {
  const rule = { denySubstrings: ['rm -RF', 'Curl'] };
  for (const text of [
    'rm -rf x',
    'RM -rf x',
    'r"m" -rf x',
    "rm  '-rf' x",
    'rm \\\n  -rf x',
    'echo cURL',
    "sh -c 'rm  -rf x'",
  ]) {
    t.equal(reasonOf(text, [rule]), 'not-allowed', text);
    t.equal(reasonOf(text, [{}], [rule]), 'denied', text);
  }
  t.strictSame(judge('rm -r x', [rule], [rule]), {});
});

t.test('an unknown or unusable constraint fails closed', async (t) => {
  for (const constraints of [
    { allowCommand: ['npm'] },
    { constructor: 1 },
    { allowCommands: 'npm' },
    { allowCommands: ['npm', 1] },
    { denySubstrings: [''] },
    { maxOutputBytes: -1 },
    { maxOutputBytes: '10' },
    { networkHosts: ['example.org'] },
    { networkReason: '' },
    { networkReason: 'packages' },
    { networkHosts: ['example.org:0'], networkReason: 'packages' },
    { networkHosts: ['https://example.org'], networkReason: 'packages' },
    { writeRoots: ['../x'] },
  ]) {
    const name = JSON.stringify(constraints);
    t.equal(reasonOf('npm test', [constraints]), 'not-allowed', `allow ${name}`);
    t.equal(reasonOf('npm test', [{}], [constraints]), 'denied', `deny ${name}`);
    t.strictSame(judge('npm test', [constraints, {}]), {}, 'another rule may allow it');
  }
  t.equal(reasonOf('npm test', [{}], [{ maxOutputBytes: 5 }]), 'denied', 'cannot be judged beforehand');
});

t.test('network hosts are opened only when a matching rule opens hosts for every command', async (t) => {
  const npm = { allowCommands: ['npm'], networkHosts: ['registry.example'], networkReason: 'packages' };
  const echo = { allowCommands: ['echo'] };
  const curl = { allowCommands: ['curl'], networkHosts: ['api.example'], networkReason: 'the service' };
  const opened = (rule: typeof npm) => ({ hosts: rule.networkHosts, reason: rule.networkReason });
  const openings = (text: string, allow: readonly Record<string, unknown>[]) => judge(text, allow).openings;
  t.strictSame(openings('npm test', [npm]), [[opened(npm)]]);
  t.equal(openings('npm test', [{ allowCommands: ['npm'] }]), undefined);
  t.equal(openings('npm test && echo done', [npm, echo]), undefined, 'echo would share its network');
  t.equal(openings('npm test | sh -c "echo x"', [npm, echo, { allowCommands: ['sh'] }]), undefined);
  t.strictSame(openings('npm test && curl x', [npm, echo, curl]), [[opened(npm)], [opened(curl)]]);
  t.strictSame(openings('npm test && npm audit', [npm]), [[opened(npm)]]);
  t.strictSame(openings('npm test', [{ allowCommands: ['npm'] }, npm]), [[opened(npm)]], 'another rule adds');
  t.strictSame(
    openings('npm audit', [npm, { ...curl, allowCommands: ['npm audit'] }]),
    [[opened(npm), opened(curl)]],
    'two rules for one command add up',
  );
  t.equal(
    openings('npm test', [{ ...npm, denySubstrings: ['test'] }, { allowCommands: ['npm'] }]),
    undefined,
  );
});

t.test('a line may use several allow rules, and the smallest output limit applies', async (t) => {
  const allow = [
    { allowCommands: ['npm'], maxOutputBytes: 500 },
    { allowCommands: ['node'], maxOutputBytes: 100 },
    { allowCommands: ['echo'] },
  ];
  t.strictSame(judge('npm test', allow), { maxOutputBytes: 500 });
  t.strictSame(judge('npm test; node x; echo', allow), { maxOutputBytes: 100 });
  t.strictSame(judge('echo x', allow), {});
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: shell text
const braces = 'a >"${WORKSPACE}src/x"';

t.test('redirections stay inside the write roots', async (t) => {
  const allow = [{ writeRoots: ['./out/', 'tmp/**'] }];
  for (const text of [
    'a >out/x',
    'a >out/../out/y',
    'a >>tmp/z',
    'a >"$WORKSPACE/out/x"',
    'a >"$REPORTS_DIR/x"',
    'a 2>/dev/null',
    'a >/tmp/x',
    'a <src/x',
    'a 2>&1',
  ]) {
    t.equal(judge(text, allow).refusal, undefined, text);
  }
  for (const text of [
    'a >src/x',
    'a >outer',
    'a >out/../src/x',
    'a >../out/x',
    'a >/etc/x',
    'a >"$WORKSPACE/src/x"',
    'a >"$WORKSPACE/../out/x"',
    braces,
    'a >"$REPORTS_DIR/../x"',
    'a >"$RUN_ID/x"',
    'X=src/x; a >"$X"',
    'cd src; a >out/x',
    'a >/tmp/../etc/x',
    '{ a; } >src/x',
    'a >|src/x',
    'a 1<>src/x',
  ]) {
    t.equal(reasonOf(text, allow), 'not-allowed', text);
  }
  t.equal(judge('a >src/x', [{ writeRoots: ['.'] }]).refusal, undefined);
  t.equal(reasonOf('a >../x', [{ writeRoots: ['.'] }]), 'not-allowed');
  t.equal(judge('env A=1 a >out/x', allow).refusal, undefined);
  t.strictSame(judge('a; b', allow).writeRoots, [['./out/', 'tmp/**']], 'what the verdict rests on');
});

t.test('writeRoots and denyPaths of a deny rule deny everything inside them', async (t) => {
  t.equal(reasonOf('a >src/x', [{}], [{ writeRoots: ['src'] }]), 'denied');
  t.equal(reasonOf('X=src/x; a >"$X"', [{}], [{ writeRoots: ['src'] }]), 'denied', 'it may');
  t.strictSame(judge('a >out/x', [{}], [{ writeRoots: ['src'] }]), {});
  for (const text of [
    'cat .env',
    'cat ./.env',
    'cat <.env',
    'cat a/../.env',
    'cat --file=.env',
    'cat "$WORKSPACE/.env"',
    'cat keys/a.pem',
  ]) {
    t.equal(reasonOf(text, [{}], [{ denyPaths: ['.env', '**/*.pem'] }]), 'denied', text);
    t.equal(reasonOf(text, [{ denyPaths: ['.env', '**/*.pem'] }]), 'not-allowed', text);
  }
  t.strictSame(judge('cat .environment', [{}], [{ denyPaths: ['.env'] }]), {});
});

t.test('a command may use only variables of the Scheduler and of the sandbox', async (t) => {
  t.equal(reasonOf('echo $GITHUB_TOKEN', [{}]), 'variable');
  t.strictSame(judge('echo $RUN_ID $HOME', [{}]), {});
  t.equal(
    guardCommand({ allow: command({}), deny: [] }, 'echo $RUN_ID', { variables: [] }).refusal?.detail?.reason,
    'variable',
  );
});

t.test('a refusal quotes its input on one line', async (t) => {
  for (const text of [
    'evil\u001b[31m\n`x`',
    '"ev\nil"',
    '"ev\u202eil"',
    'evil "a\nb"',
    '$X\n',
    `$${'X'.repeat(999)}`,
  ]) {
    const message = judge(text, [{ allowCommands: ['npm'] }]).refusal?.message ?? '';
    t.match(message, /./);
    t.notMatch(message, /[\p{Cc}\p{Cf}]/u, JSON.stringify(message));
    t.ok(message.length < 500);
  }
});

t.test('a check whose command would be denied gets a warning at its path', async (t) => {
  const spec = sampleSpecWith({
    acceptance: {
      verificationPlan: {
        fastChecks: [
          check('good', 'command', 'npm test'),
          check('bad', 'command', 'npm test; evil'),
          check('blank', 'command', ' '),
        ],
        releaseChecks: [
          check('rule', 'policy', 'no-direct-eval --x'),
          check('command', 'policy', 'unregistered --x'),
          check('not-a-rule', 'command', 'no-direct-eval'),
        ],
      },
    },
    security: { toolAcl: { allow: command({ allowCommands: ['npm test'] }) } },
  });
  const problems = commandProblems(spec, ['no-direct-eval']);
  const at = '/acceptance/verificationPlan';
  t.same(
    problems.map(({ path }) => path),
    [`${at}/fastChecks/1/command`, `${at}/releaseChecks/1/command`, `${at}/releaseChecks/2/command`],
  );
  for (const problem of problems)
    t.match(problem, { code: 'SEMANTIC_CHECK_COMMAND_DENIED', severity: 'warning' });
});

t.test('the ACL authorizes tools that read and write files', async (t) => {
  const workspace = t.testdir({
    src: { a: '', deep: { b: '' } },
    out: { x: '' },
    secret: { key: '' },
    inside: t.fixture('symlink', 'src'),
    sideways: { link: t.fixture('symlink', '../secret') },
    outside: t.fixture('symlink', '/etc'),
    dangling: t.fixture('symlink', '/nowhere/at/all'),
    loop: t.fixture('symlink', 'loop'),
  });
  const rule = (tool: string, actions: readonly string[], constraints: Constraints = {}) => ({
    tool,
    actions,
    constraints,
  });
  type Call = Partial<Parameters<typeof guardTool>[1]>;
  const ask = (
    allow: readonly ReturnType<typeof rule>[],
    deny: readonly ReturnType<typeof rule>[],
    call: Call,
  ) =>
    guardTool({ allow, deny }, { tool: 'workspace.fs', action: 'write', workspace, ...call }).refusal?.detail
      ?.reason;
  const write = (constraints: Constraints) => [
    rule('workspace.fs', ['read', 'write', 'delete'], constraints),
  ];

  t.test('a file tool needs an allow rule with that tool and action', async (t) => {
    t.equal(ask(write({}), [], { paths: ['src/a'] }), undefined);
    t.equal(ask([rule('workspace.fs', ['read'])], [], { paths: ['src/a'] }), 'not-allowed');
    t.equal(ask([rule('workspace.*', ['*'])], [], { paths: ['src/a'] }), 'not-allowed');
    t.equal(ask(write({}), [], { tool: 'vcs', paths: [] }), 'not-allowed');
    t.equal(ask([], [], {}), 'not-allowed');
  });

  t.test('a file tool is refused where a path or its symlinks leave the workspace', async (t) => {
    for (const path of [
      '../x',
      '/etc/passwd',
      'outside/passwd',
      'src/../../x',
      'dangling',
      'dangling/x',
      'loop',
      '',
      'a\0b',
    ]) {
      for (const action of ['read', 'write', 'delete'])
        t.equal(ask(write({}), [], { action, paths: [path] }), 'outside', path);
    }
  });

  t.test('a file tool writes only inside the write roots, even through symlinks', async (t) => {
    const allow = write({ writeRoots: ['./src/', 'sideways'] });
    for (const path of ['src/a', 'src/new/file', 'src', 'inside/a', `${workspace}/src/a`]) {
      t.equal(ask(allow, [], { paths: [path] }), undefined, path);
    }
    for (const path of ['out/x', 'srcs', 'src/../out/x', 'sideways/link/key', 'sideways/link/new', 'new']) {
      t.equal(ask(allow, [], { paths: [path] }), 'not-allowed', path);
    }
    t.equal(ask(allow, [], { paths: ['src/a', 'out/x'] }), 'not-allowed', 'one path outside is enough');
    t.equal(ask(allow, [], { paths: [] }), 'not-allowed', 'nothing is proven about no path');
    t.equal(ask(allow, [], {}), 'not-allowed');
    t.equal(ask(allow, [], { action: 'read', paths: ['out/x'] }), undefined, 'roots are for writing');
    t.equal(
      ask(allow, [], { action: 'delete', paths: ['inside'] }),
      'not-allowed',
      'the link itself lies outside',
    );
    t.equal(ask(write({ writeRoots: [] }), [], { paths: ['src/a'] }), 'not-allowed');
    t.equal(ask(write({ writeRoots: ['.'] }), [], { paths: ['new'] }), undefined);
    t.equal(ask(write({ writeRoots: ['/'] }), [], { paths: ['src/a'] }), 'not-allowed');
  });

  t.test('a file tool is denied inside denied paths and roots', async (t) => {
    for (const deny of [
      write({ denyPaths: ['secret'] }),
      write({ writeRoots: ['secret/**'] }),
      [rule('*', ['*'], { denyPaths: ['secret'] })],
    ]) {
      for (const path of ['secret/key', 'secret', 'sideways/link/key', 'src/../secret/key']) {
        t.equal(ask(write({}), deny, { paths: [path] }), 'denied', path);
      }
      t.equal(ask(write({}), deny, { paths: ['src/a'] }), undefined);
      t.equal(ask(write({}), deny, {}), 'denied', 'nobody knows where');
    }
    t.equal(ask(write({ denyPaths: ['secret'] }), [], { paths: ['sideways/link/key'] }), 'not-allowed');
    t.equal(ask(write({}), write({}), { paths: ['src/a'] }), 'denied');
    t.equal(ask(write({}), write({ denyPaths: ['../x'] }), { paths: ['src/a'] }), 'denied');
  });

  t.test('a file tool is refused when it writes more than maxWriteBytes', async (t) => {
    const allow = write({ maxWriteBytes: 10, maxResultBytes: 20 });
    t.equal(ask(allow, [], { paths: ['src/a'], writeBytes: 10 }), undefined);
    t.equal(ask(allow, [], { paths: ['src/a'], writeBytes: 11 }), 'not-allowed');
    t.equal(ask(allow, [], { paths: ['src/a'] }), 'not-allowed', 'nobody knows how many');
    t.equal(ask(write({}), write({ maxWriteBytes: 10 }), { paths: ['src/a'], writeBytes: 11 }), 'denied');
    t.equal(ask(write({}), write({ maxWriteBytes: 10 }), { paths: ['src/a'], writeBytes: 10 }), undefined);
  });

  t.test('of allow rules the largest result limit applies, of deny rules the smallest', async (t) => {
    const cap = (allow: readonly ReturnType<typeof rule>[], deny: readonly ReturnType<typeof rule>[] = []) =>
      guardTool({ allow, deny }, { tool: 'workspace.fs', action: 'read', workspace, paths: ['src/a'] })
        .maxResultBytes;
    t.equal(cap(write({})), undefined);
    t.equal(cap(write({ maxResultBytes: 20 })), 20);
    t.equal(cap(write({ maxResultBytes: 20, maxOutputBytes: 7 })), 7);
    t.equal(cap([...write({ maxResultBytes: 20 }), ...write({ maxOutputBytes: 30 })]), 30);
    t.equal(
      cap([...write({ maxResultBytes: 20 }), ...write({ denyPaths: ['src'] })]),
      20,
      'of those that hold',
    );
    t.equal(cap(write({ maxResultBytes: 20 }), write({ maxResultBytes: 10 })), 10);
  });

  t.test('a search tool shows only paths that may be read', async (t) => {
    const shows = (
      allow: readonly ReturnType<typeof rule>[],
      deny: readonly ReturnType<typeof rule>[],
      tool = 'workspace.search',
      action = 'search',
    ) => ['src', 'src/a', 'secret', 'secret/key'].filter(shownPaths({ allow, deny }, tool, action));
    const search = (constraints: Constraints = {}) => rule('workspace.search', ['search'], constraints);
    const [everything, open] = [
      ['src', 'src/a', 'secret', 'secret/key'],
      ['src', 'src/a'],
    ];
    const secret = { denyPaths: ['secret'] };
    t.strictSame(shows([search()], []), everything, 'no rule speaks of reading');
    t.strictSame(shows([search(secret)], []), open);
    t.strictSame(shows([search()], [search(secret)]), open);
    t.strictSame(shows([search(), ...write({})], write(secret)), open, 'what may not be read');
    t.strictSame(shows([search(), ...write(secret)], []), open);
    t.strictSame(shows([search()], write({})), [], 'nothing may be read');
    t.strictSame(shows(write(secret), [], 'workspace.fs', 'read'), open);
    t.strictSame(shows(write({}), [rule('*', ['*'], { denySubstrings: ['key'] })], 'workspace.fs', 'read'), [
      'src',
      'src/a',
      'secret',
    ]);
  });

  t.test('denied text, unknown constraints and constraints for commands refuse a file tool', async (t) => {
    const call = { paths: ['src/a'], text: ['Some PASSWORD here'] };
    t.equal(ask(write({ denySubstrings: ['password'] }), [], call), 'not-allowed');
    t.equal(ask(write({}), write({ denySubstrings: ['password'] }), call), 'denied');
    t.equal(ask(write({ denySubstrings: ['token'] }), [], call), undefined);
    for (const constraints of [
      { unknown: 1 },
      { allowCommands: ['npm'] },
      { networkHosts: ['x.org'], networkReason: 'y' },
    ]) {
      t.equal(ask(write({}), write(constraints), call), 'denied', JSON.stringify(constraints));
    }
    t.equal(ask(write({ unknown: 1 }), [], call), 'not-allowed');
    t.equal(ask(write({ allowCommands: ['npm'] }), [], call), 'not-allowed');
    const hosts = { networkHosts: ['x.org'], networkReason: 'y' };
    t.equal(ask(write(hosts), [], call), 'not-allowed', 'they would open nothing');
    t.equal(
      ask([rule('web.search', ['query'], hosts)], [], { tool: 'web.search', action: 'query' }),
      undefined,
    );
  });
});

t.test('a program may be named by its path in a directory that the workspace was given', async (t) => {
  const isProgram = programsIn(['.venv', 'tools/venv']);
  const options = { variables: [], isProgram };
  const toolAcl = (allowCommands: string[], deny: EffectiveToolAcl['deny'] = []): EffectiveToolAcl => ({
    allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands } }],
    deny,
  });
  const refusalOf = (command: string, acl: EffectiveToolAcl) => guardCommand(acl, command, options).refusal;
  for (const path of ['.venv/bin/python', 'tools/venv/bin/python3.12'])
    t.equal(refusalOf(`${path} -m pytest`, toolAcl([path])), undefined, path);
  t.match(refusalOf('.venv/bin/python -m pytest', toolAcl(['python']))?.message, 'no `allowCommands` entry');
  for (const path of [
    'bin/python',
    './.venv/bin/python',
    '.venv/../x',
    '.venv//x',
    '/bin/sh',
    '.venv2/bin/x',
  ])
    t.match(refusalOf(path, toolAcl([path]))?.message, /expected a program's bare name/, path);
  t.match(
    guardCommand(toolAcl(['.venv/bin/x']), '.venv/bin/x', { variables: [] }).refusal?.message,
    /bare name/,
  );
  const denied = [
    { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['rm'] } },
  ];
  t.match(refusalOf('.venv/bin/rm x', toolAcl(['.venv/bin/rm'], denied))?.message, /deny rule 0 refuses it/);
  const inner = refusalOf('.venv/bin/env rm x', toolAcl(['.venv/bin/env', 'rm'], denied));
  t.match(inner?.message, /deny rule 0/, 'what a wrapper runs is read');
  const git = guardCommand(toolAcl(['.venv/bin/git']), '.venv/bin/git push', {
    ...options,
    withheld: { isWithheld: (name) => name === 'git', instead: 'use the tool' },
  });
  t.match(git.refusal?.detail, { reason: 'withheld' });
});
