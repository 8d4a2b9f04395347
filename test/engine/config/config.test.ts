import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { LogForm } from '../../../core/interfaces/sealing.ts';
import { languageServers, parseConfig } from '../../../engine/config/config.ts';
import { findSecurityPath, securityWords } from '../../../spec/secret-words.ts';

const parseText = (text: string, ruleIds?: readonly string[]) =>
  parseConfig(Buffer.from(text), { ...sealingForms, ...(ruleIds === undefined ? {} : { ruleIds }) });

function issuesOf(
  text: string | Uint8Array,
  ruleIds?: readonly string[],
): { path: string; message: string }[] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  try {
    parseConfig(bytes, { ...sealingForms, ...(ruleIds === undefined ? {} : { ruleIds }) });
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'CONFIG_INVALID') throw error;
    return error.detail.issues as { path: string; message: string }[];
  }
  return [];
}
const pathsOf = (text: string, ruleIds?: readonly string[]) =>
  issuesOf(text, ruleIds).map((issue) => issue.path);

t.test('security code is found by a glob or by a word, and prose by a glob only', async (t) => {
  const prose = ['.changeset/fix-xss-on-error.md', 'docs/auth.rst'];
  t.equal(findSecurityPath(prose, { paths: [], words: securityWords }), undefined);
  t.equal(findSecurityPath([...prose, 'src/xss.ts'], { paths: [], words: securityWords }), 'src/xss.ts');
  t.equal(findSecurityPath(prose, { paths: ['docs/**'], words: securityWords }), 'docs/auth.rst');
});

t.test('`[workers] secrets` names one label, and plugins have none', async (t) => {
  const workers = (more: string) => `[workers]\nqueue = "redis"\n${more}`;
  t.equal(parseText(workers('')).workers?.secrets, undefined);
  t.equal(parseText(workers('secrets = "vault"')).workers?.secrets, 'vault');
  for (const more of ['secrets = ""', 'secrets = "a,b"', 'secrets = "a b"', 'secrets = ["vault"]'])
    t.strictSame(pathsOf(workers(more)), ['workers.secrets'], more);
  t.strictSame(pathsOf(workers('plugins = "vault"')), ['workers.plugins']);
});

t.test('a missing file and an empty file give the same defaults', async (t) => {
  const config = parseConfig(undefined, sealingForms);
  t.strictSame(parseText(''), config);
  t.strictSame(config.workspace, {
    share: [],
    sharesUsual: true,
    lockfile: 'package-lock.json',
    findsLockfile: true,
    lockfiles: new Map(),
    prepare: [],
    carry: [],
    rewrites: [],
    history: 1,
  });
  t.strictSame(config.signer, { key: { form: 'default' } });
  t.strictSame(config.log, { 'internal-ledger': {}, 'public-log': {} });
  t.strictSame(config.rules, {});
  t.equal(config.checks.maxMemoryMb, 4096);
  t.ok(config.checks.maxParallel >= 1 && config.checks.maxParallel <= 64);
  t.strictSame(config.securityCode, { paths: [], words: securityWords });
  t.strictSame(config.redaction, {});
  t.strictSame(pathsOf('[redaction]\npii = ["ab"]\npublic = ["abc"]'), [
    'redaction.pii[0]',
    'redaction.public',
  ]);
});

t.test('reads every documented key', async (t) => {
  const ruby = { commands: [{ command: ['ruby-lsp'] }], files: { '.rb': 'ruby' }, project: [] };
  const config = parseText(`
    [workspace]
    share = ["node_modules", "packages/a/node_modules"]
    lockfile = "npm-shrinkwrap.json"
    carry = ["dist", "packages/a/dist"]
    rewrites = ["gen/**"]
    history = 50
    [[workspace.prepare]]
    argv = ["npm", "ci", "--offline"]
    network = "none"
    timeout_seconds = 90
    inputs = ["package.json", "vendor"]
    outputs = ["node_modules"]
    [[workspace.prepare]]
    argv = ["make", "deps"]
    lockfile = "deps.lock"
    outputs = ["third_party"]
    [signer]
    key = "env:WRIT_SIGNING_KEY"
    [log]
    url = "https://log.example/shard/"
    api = "v2"
    trusted_root = ".writ/trust/root.json"
    [approval]
    ttl_seconds = 60
    [landing]
    remote = "public"
    [goal]
    tokens = 1000
    cost_usd = 0.5
    seconds = 60
    [budget]
    session_usd = 2.5
    [approvals]
    in_process = true
    carry = "equivalent"
    [approvals.groups]
    release = ["ana@x.example"]
    [checks]
    max_parallel = 3
    max_memory_mb = 512
    [checks.unit]
    report = "TEST-*.xml"
    [checks."integration tests"]
    report = "stdout"
    [rules.scope]
    allow = ["a", 1, true]
    limits = { files = 10, ratio = 0.5 }
    [redaction]
    internal = ["Bluebird"]
    [commit]
    sign = true
    hooks = ["pre-commit", "tools/commit-msg"]
    [seal]
    least_risk = "high"
    [drafts]
    least_risk = "low"
    [security_code]
    paths = ["src/gate/**"]
    words = ["Token"]
    [[factors.payments.checks]]
    id = "ledger"
    kind = "testSuite"
    command = "npm test"
    stage = "integration"
    timeout_seconds = 60
    expected_exit_code = 2
    required = false
    artifacts_produced = ["test-log"]
    [[factors."external service".checks]]
    id = "contract"
    command = "make contract"
    stage = "fast"
    [[plugins]]
    path = "tools/gate"
    digest = "sha256:${'0a'.repeat(32)}"
    [runners]
    keys = [".writ/trust/ci.pem"]
    [hooks]
    tool = ["/policy/tool.sh"]
    [mcp.wiki]
    url = "https://mcp.example.com/mcp"
    [lsp.ruby]
    command = ["ruby-lsp"]
    files = [".rb"]
    [scanner.lines]
    argv = ["/opt/lines/bin/lines", "--out", "$REPORTS_DIR/lines.json"]
    format = "osv"
    report = "lines.json"
    version = "1.2.3"
    stage = "fast"
    fail_on = "note"
    exit_codes = [0, 3]
    timeout_seconds = 60
    rules = ["lines.toml"]
    [[scanner.lines.read_only]]
    path = "/opt/lines"
    sha256 = "${'a'.repeat(64)}"
    [[scanner.lines.ignore]]
    rule = "CVE-1"
    path = "src/**"
    owner = "ana@example.org"
    until = "2027-03-31"
    reason = "A test."
    [policy]
    mode = "advise"
    [policy.release]
    engine = "cedar"
    files = ["policies/release.cedar"]
    stage = "fast"
    [evidence]
    plugins = ["house"]
    [artifacts.who-owns-it]
    plugin = "owners"
    stage = "security"
    format = "json"
    [[checks.always]]
    id = "house"
    stage = "security"
    command = "make audit"
    [agent.own]
    provider = "openai"
    programs = ["own-agent"]
    log = ".own/*.jsonl"
    deadline_seconds = 60
    [agent.own.env]
    BASE = "{base}"
    [agent.own.files]
    ".own/config" = "{key}"
    [providers.openai]
    dialect = "responses"
    [models."qwen3-coder:480b"]
    input = 0.4
    output = 1.6
    context = 262144
    [models.held]
    context = 9000
  `);
  t.strictSame(config, {
    workspace: {
      sharesUsual: false,
      share: ['node_modules', 'packages/a/node_modules'],
      lockfile: 'npm-shrinkwrap.json',
      findsLockfile: false,
      lockfiles: new Map(),
      prepare: [
        {
          argv: ['npm', 'ci', '--offline'],
          hosts: [],
          timeoutSeconds: 90,
          lockfile: 'npm-shrinkwrap.json',
          inputs: ['package.json', 'vendor'],
          outputs: ['node_modules'],
        },
        {
          argv: ['make', 'deps'],
          hosts: [],
          timeoutSeconds: 600,
          lockfile: 'deps.lock',
          inputs: [],
          outputs: ['third_party'],
        },
      ],
      carry: ['dist', 'packages/a/dist'],
      rewrites: ['gen/**'],
      history: 50,
    },
    approval: { ttlSeconds: 60 },
    landing: { remote: 'public' },
    goal: { maxTokens: 1000, maxCostUsd: 0.5, maxSeconds: 60 },
    budget: { sessionUsd: 2.5 },
    approvals: { inProcess: true, carry: 'equivalent', groups: { release: ['ana@x.example'] } },
    runners: { keys: ['.writ/trust/ci.pem'] },
    signer: { key: { form: 'env', name: 'WRIT_SIGNING_KEY' } },
    log: {
      'internal-ledger': {},
      'public-log': {
        service: { url: 'https://log.example/shard', api: 'v2' },
        trustedRoot: '.writ/trust/root.json',
      },
    },
    evidence: { plugins: ['house'] },
    artifacts: new Map([['who-owns-it', { plugin: 'owners', stage: 'security', format: 'json' }]]),
    checks: {
      maxParallel: 3,
      maxMemoryMb: 512,
      reports: new Map([
        ['unit', 'TEST-*.xml'],
        ['integration tests', 'stdout'],
      ]),
      always: [
        {
          stage: 'security',
          check: {
            id: 'house',
            kind: 'command',
            command: 'make audit',
            timeoutSeconds: 900,
            expectedExitCode: 0,
            required: true,
            artifactsProduced: [],
          },
        },
      ],
    },
    rules: { scope: { allow: ['a', 1, true], limits: { files: 10, ratio: 0.5 } } },
    securityCode: { paths: ['src/gate/**'], words: ['token'] },
    commit: {
      sign: true,
      hooks: [{ name: 'pre-commit' }, { name: 'commit-msg', path: 'tools/commit-msg' }],
    },
    seal: { leastRisk: 'high' },
    drafts: { leastRisk: 'low' },
    plugins: [{ kind: 'path', place: 'tools/gate', digest: '0a'.repeat(32) }],
    lsp: new Map([...Object.entries(languageServers), ['ruby', ruby]]),
    agents: new Map([
      [
        'own',
        {
          provider: 'openai',
          programs: ['own-agent'],
          log: '.own/*.jsonl',
          deadlineSeconds: 60,
          env: { BASE: '{base}' },
          files: { '.own/config': '{key}' },
        },
      ],
    ]),
    hooks: [{ event: 'tool', argv: ['/policy/tool.sh'], from: 'policy' }],
    mcp: new Map([
      [
        'wiki',
        {
          ...{ name: 'wiki', from: 'policy', url: 'https://mcp.example.com/mcp' },
          ...{ hosts: [], env: {}, reads: false, timeoutSeconds: 60 },
        },
      ],
    ]),
    scanners: new Map([
      [
        'lines',
        {
          name: 'lines',
          argv: ['/opt/lines/bin/lines', '--out', '$REPORTS_DIR/lines.json'],
          format: 'osv',
          report: 'lines.json',
          version: '1.2.3',
          stage: 'fast',
          failOn: 'note',
          exitCodes: [0, 3],
          timeoutSeconds: 60,
          ruleFiles: ['lines.toml'],
          readOnly: [{ path: '/opt/lines', sha256: 'a'.repeat(64) }],
          ignore: [
            {
              rule: 'CVE-1',
              path: 'src/**',
              owner: 'ana@example.org',
              until: '2027-03-31',
              reason: 'A test.',
            },
          ],
        },
      ],
    ]),
    mode: 'advise',
    policies: new Map([['release', { engine: 'cedar', files: ['policies/release.cedar'], stage: 'fast' }]]),
    providers: { openai: { dialect: 'responses' } },
    models: {
      'qwen3-coder:480b': { price: { input: 0.4, output: 1.6, cachedInput: 0.4 }, contextTokens: 262_144 },
      held: { contextTokens: 9000 },
    },
    redaction: { internal: ['Bluebird'] },
    factors: new Map([
      [
        'payments',
        [
          {
            stage: 'integration',
            check: {
              id: 'ledger',
              kind: 'testSuite',
              command: 'npm test',
              timeoutSeconds: 60,
              expectedExitCode: 2,
              required: false,
              artifactsProduced: ['test-log'],
            },
          },
        ],
      ],
      [
        'external service',
        [
          {
            stage: 'fast',
            check: {
              id: 'contract',
              kind: 'command',
              command: 'make contract',
              timeoutSeconds: 900,
              expectedExitCode: 0,
              required: true,
              artifactsProduced: [],
            },
          },
        ],
      ],
    ]),
  });
});

t.test('refuses a recipe of an external agent that leaves its home or lacks a part', async (t) => {
  const rest = 'provider = "openai"\nlog = "a"\n';
  for (const [text, path] of [
    ['[agent.x]\nlog = "a"', 'agent.x.provider'],
    ['[agent.x]\nprovider = "openai"', 'agent.x.log'],
    ['[agent.x]\nprovider = "openai"\nlog = "../a"', 'agent.x.log'],
    ['[agent.x]\nprovider = "openai"\nlog = "/a"', 'agent.x.log'],
    ['[agent.x]\nprovider = "openai"\nlog = "**/a"', 'agent.x.log'],
    [`[agent.x]\n${rest}deadline_seconds = 0`, 'agent.x.deadline_seconds'],
    [`[agent.x]\n${rest}[agent.x.files]\n"../b" = "c"`, 'agent.x.files."../b"'],
    [`[agent.x]\n${rest}[agent.x.env]\n"A-B" = "c"`, 'agent.x.env.A-B'],
    [`[agent.X]\n${rest}`, 'agent.X'],
    [`[agent.x]\n${rest}other = 1`, 'agent.x.other'],
  ] as const)
    t.match(issuesOf(text), [{ path }], text);
});

t.test('refuses runner keys that are not directly in `.writ/trust`', async (t) => {
  for (const path of [
    'ci.pem',
    '.writ/trust/../config.toml',
    '.writ/agents/ci.pem',
    '/etc/key',
    '.writ/trust/a/b',
  ])
    t.match(issuesOf(`[runners]\nkeys = ["${path}"]`), [{ path: 'runners.keys[0]' }], path);
});

t.test('the default input of a prepare step is the manifest of its lockfile', async (t) => {
  const step = parseText('[[workspace.prepare]]\nargv=["x"]\nlockfile="api/uv.lock"\noutputs=["api/.venv"]')
    .workspace.prepare[0];
  t.strictSame(step?.inputs, ['api/pyproject.toml']);
});

t.test('refuses an unknown key with its path and suggests a similar key', async (t) => {
  for (const [text, path, meant] of [
    ['worksapce = 1', 'worksapce', 'workspace'],
    ['[workspace]\nshares = []', 'workspace.shares', 'share'],
    [
      '[[workspace.prepare]]\nargv=["x"]\noutputs=["o"]\ntimeout_second=3',
      'workspace.prepare[0].timeout_second',
      'timeout_seconds',
    ],
    ['[signer]\nkeys = "env:A"', 'signer.keys', 'key'],
    ['[checks]\nmax-parallel = 2', 'checks.max-parallel', 'max_parallel'],
    ['[security_code]\npath = []', 'security_code.path', 'paths'],
  ] as const) {
    const issues = issuesOf(text);
    t.strictSame(
      issues.map((issue) => issue.path),
      [path],
    );
    t.match(issues[0]?.message, `did you mean \`${meant}\``);
  }
  t.strictSame(pathsOf('[zzz."a b"]\n'), ['zzz'], 'nothing similar: no guess is offered');
  t.notMatch(issuesOf('[zzz]')[0]?.message, 'did you mean');
});

t.test('reports all issues at once', async (t) => {
  t.strictSame(pathsOf('nope = 1\n[checks]\nmax_parallel = 0\n[workspace]\nshare = "x"'), [
    'workspace.share',
    'checks.max_parallel',
    'nope',
  ]);
});

t.test('refuses values of the wrong type or out of bounds', async (t) => {
  for (const [text, path] of [
    ['workspace = 1', 'workspace'],
    ['[workspace]\nshare = [1]', 'workspace.share[0]'],
    ['[workspace]\nshare = [""]', 'workspace.share[0]'],
    ['[workspace]\nlockfile = 3', 'workspace.lockfile'],
    ['[workspace]\nprepare = {argv=["x"]}', 'workspace.prepare'],
    ['[workspace]\nprepare = [3]', 'workspace.prepare[0]'],
    ['[workspace]\nhistory = 0', 'workspace.history'],
    ['[workspace]\nhistory = 10001', 'workspace.history'],
    ['[workspace]\nhistory = "all"', 'workspace.history'],
    ['[workspace]\ncarry = "dist"', 'workspace.carry'],
    ['[workspace]\ncarry = ["dist", "dist/app"]', 'workspace.carry'],
    ['[workspace]\ncarry = ["*"]', 'workspace.carry[0]'],
    ['[workspace]\ncarry = [".git/hooks"]', 'workspace.carry[0]'],
    ['[workspace]\ncarry = ["../dist"]', 'workspace.carry[0]'],
    ['[workspace]\nshare = ["node_modules"]\ncarry = ["node_modules/.cache"]', 'workspace.carry'],
    ['[workspace]\ncarry = ["o"]\n[[workspace.prepare]]\nargv=["x"]\noutputs=["o"]', 'workspace.carry'],
    [
      `[workspace]\ncarry = [${Array.from({ length: 17 }, (_, i) => `"d${i}"`).join(',')}]`,
      'workspace.carry',
    ],
    ['[checks]\nmax_parallel = 1.5', 'checks.max_parallel'],
    ['[checks]\nmax_parallel = 65', 'checks.max_parallel'],
    ['[checks]\nmax_memory_mb = 127', 'checks.max_memory_mb'],
    ['[checks]\nmax_memory_mb = "4096"', 'checks.max_memory_mb'],
    ['[checks.unit]\nreport = "../junit.xml"', 'checks.unit.report'],
    ['[checks.unit]\nreport = ["a.xml", "b.xml"]', 'checks.unit.report'],
    ['[checks.unit]\nreport = "metrics.json"', 'checks.unit.report'],
    ['[checks.unit]\nreports = "stdout"', 'checks.unit.reports'],
    ['[checks.""]\nreport = "stdout"', 'checks.""'],
    ['[checks]\nmax_parallel = "2"', 'checks.max_parallel'],
    ['[security_code]\nwords = ["a\\u0007"]', 'security_code.words[0]'],
    ['[rules]\nscope = 1', 'rules.scope'],
    ['[rules.scope]\nsince = 2024-01-01', 'rules.scope.since'],
    ['[rules.scope]\nx = inf', 'rules.scope.x'],
    ['[rules.scope]\na.b.c.d.e.f.g.h.i.j = 1', 'rules.scope.a.b.c.d.e.f.g.h.i'],
    [
      `[workspace]\nshare = [${Array.from({ length: 257 }, (_, i) => `"d${i}"`).join(',')}]`,
      'workspace.share',
    ],
  ] as const) {
    t.ok(pathsOf(text).includes(path), `${text.slice(0, 60)} → ${path}`);
  }
  t.strictSame(pathsOf('[checks]\nmax_parallel = 64'), [], 'the last allowed value is allowed');
});

t.test('refuses paths outside the repository and paths into its state directories', async (t) => {
  for (const path of [
    '../x',
    '/etc',
    'a/../../b',
    './a',
    'a//b',
    'a/',
    '~/x',
    'C:/x',
    'a\\\\b',
    '.git',
    'x/.GIT/hooks',
    '.writ/x',
  ]) {
    t.strictSame(pathsOf(`[workspace]\nshare = ["${path}"]`), ['workspace.share[0]'], path);
    t.ok(
      pathsOf(`[[workspace.prepare]]\nargv=["x"]\noutputs=["${path}"]`).includes(
        'workspace.prepare[0].outputs[0]',
      ),
      path,
    );
    t.ok(pathsOf(`[workspace]\nlockfile = "${path}"`).includes('workspace.lockfile'), path);
  }
});

t.test('refuses nested directories, but allows the same directory in share and prepare', async (t) => {
  const step = (output: string, share: string) =>
    pathsOf(`[workspace]\nshare=["${share}"]\n[[workspace.prepare]]\nargv=["x"]\noutputs=["${output}"]`);
  t.strictSame(step('node_modules', 'node_modules'), []);
  t.strictSame(step('a', 'a/node_modules'), ['workspace.share']);
  t.strictSame(step('a/b', 'a'), ['workspace.share']);
  t.strictSame(step('ab', 'a'), []);
  t.strictSame(pathsOf('[workspace]\nshare=["a","a/b"]'), ['workspace.share']);
  t.ok(
    pathsOf('[[workspace.prepare]]\nargv=["x"]\ninputs=["v"]\noutputs=["v/o"]').includes(
      'workspace.prepare[0].outputs',
    ),
  );
});

t.test('refuses a prepare step that could not run as configured', async (t) => {
  t.strictSame(pathsOf('[[workspace.prepare]]\noutputs=["o"]'), ['workspace.prepare[0].argv']);
  t.strictSame(pathsOf('[[workspace.prepare]]\nargv=["x"]'), ['workspace.prepare[0].outputs']);
  t.strictSame(pathsOf('[[workspace.prepare]]\nargv=["./x"]\noutputs=["o"]'), ['workspace.prepare[0].argv']);
  const step = (network: string) => `[[workspace.prepare]]\nargv=["x"]\noutputs=["o"]\nnetwork=${network}`;
  const [issue] = issuesOf(step('"host"'));
  t.equal(issue?.path, 'workspace.prepare[0].network');
  const hostsOf = (network: string) => parseText(step(network)).workspace.prepare[0]?.hosts;
  t.strictSame(hostsOf('"none"'), []);
  t.strictSame(hostsOf('"uv"'), ['pypi.org', 'files.pythonhosted.org']);
  const named = ['registry.example.com', '*.mirror.example', 'proxy.example:8443', '203.0.113.7'];
  t.strictSame(hostsOf(`{ hosts = ${JSON.stringify(named)} }`), named);
  for (const host of [
    '',
    '*',
    'https://a.example',
    'user@a.example',
    'a.example/x',
    'a.example:0',
    '127.1',
    '0x7f000001',
    'a%2eexample',
  ])
    t.match(issuesOf(step(`{ hosts = ["b.example", "${host}"] }`)), [{ path: /hosts/ }], host);
  for (const table of ['{}', '{ hosts = [] }', '{ hosts = ["a.example"], ports = [1] }'])
    t.equal(issuesOf(step(table)).length, 1, table);
  t.match(issue?.message, 'is not known; expected `none`');
});

t.test('reads every form of signing key and refuses relative or malformed ones', async (t) => {
  const key = (text: string) => parseText(`[signer]\nkey = "${text}"`).signer.key;
  t.strictSame(key('file:~/keys/a.pem'), { form: 'file', path: '~/keys/a.pem' });
  t.strictSame(key('file:/run/keys/a.pem'), { form: 'file', path: '/run/keys/a.pem' });
  t.strictSame(key('env:KEY_1'), { form: 'env', name: 'KEY_1' });
  t.strictSame(key('ssh:~/.ssh/id_ed25519'), { form: 'ssh', path: '~/.ssh/id_ed25519' });
  t.strictSame(key('agent'), { form: 'agent', wanted: undefined });
  const fingerprint = `SHA256:${'a'.repeat(43)}`;
  t.strictSame(key(`agent:${fingerprint}`), { form: 'agent', wanted: fingerprint });
  t.strictSame(key('agent:release key'), { form: 'agent', wanted: 'release key' });
  t.strictSame(key('keyless'), { form: 'keyless' });
  for (const text of [
    'file:keys/a.pem',
    'file:~/../x',
    'file:',
    'env:',
    'env:1A',
    'env:A-B',
    'agent:',
    'agent:SHA256:x',
    'ssh:id_ed25519',
    'keyless:x',
    'kms:x',
    '',
  ]) {
    t.strictSame(pathsOf(`[signer]\nkey = "${text}"`), ['signer.key'], text);
  }
});

t.test('each log form reads its own keys of `[log]`, and other keys are refused', async (t) => {
  const of = (text: string, ...names: readonly string[]) => {
    const form = (name: string): LogForm => ({
      readSection(section) {
        if (section.text(name) === 'nonsense') section.refuse(name, 'expected sense');
        return section.text(name);
      },
    });
    const logs = new Map(names.map((name) => [name, form(name)]));
    return parseConfig(Buffer.from(`[log]\n${text}`), {
      ...sealingForms,
      logs: new Map([...logs, ['none', {}]]),
    }).log;
  };
  t.strictSame(of('one = "1"\ntwo = "2"', 'one', 'two'), { one: '1', two: '2' });
  const refused = (message: string) => ({
    code: 'CONFIG_INVALID',
    detail: { issues: [{ path: 'log.one', message }] },
  });
  t.throws(() => of('one = "1"', 'two'), refused('unknown key (known here: `two`)'));
  t.throws(() => of('one = "nonsense"', 'one'), refused('expected sense'));
  t.throws(() => of('one = 1', 'one'), { code: 'CONFIG_INVALID' });
});

t.test('a public log needs one safe service address and a trusted root', async (t) => {
  const log = (text: string) => pathsOf(`[log]\n${text}`);
  const root = 'trusted_root = "root.json"\n';
  t.strictSame(log(`url = "http://127.0.0.1:9"\napi = "v1"\n${root}`), []);
  t.strictSame(log(`signing_config = "sigstore/config.json"\n${root}`), []);
  t.strictSame(log('mirror = "git"'), []);
  t.strictSame(log('mirror = "disk"'), ['log.mirror']);
  t.strictSame(log('url = "https://x.example"\napi = "v1"'), ['log.trusted_root']);
  t.strictSame(log('signing_config = "c.json"'), ['log.trusted_root']);
  t.strictSame(log(`url = "https://x.example"\n${root}`), ['log.api']);
  t.strictSame(log(`api = "v2"\n${root}`), ['log.api']);
  t.strictSame(log(`url = "https://x.example"\napi = "v3"\n${root}`), ['log.api']);
  t.strictSame(log(`url = "https://x.example"\napi = "v2"\nsigning_config = "c.json"\n${root}`), [
    'log.signing_config',
  ]);
  for (const url of [
    'http://x.example',
    'https://u:SECRET@x.example',
    'https://:SECRET@x.example',
    'https://u@x.example',
    'https://x.example?a',
    'ftp://x',
    'x',
  ]) {
    t.strictSame(log(`url = "${url}"\napi = "v2"\n${root}`), ['log.url'], url);
    t.notMatch(JSON.stringify(issuesOf(`[log]\nurl = "${url}"\napi = "v2"\n${root}`)), /SECRET/);
  }
  for (const path of ['/etc/root.json', '../root.json', '.git/root.json', '.writ/root.json'])
    t.strictSame(log(`trusted_root = "${path}"`), ['log.trusted_root'], path);
  t.strictSame(pathsOf('[signer]\nkey = "env:A"\nfulcio_url = "https://ca.example"'), ['signer.fulcio_url']);
});

t.test('error messages never repeat a pasted private key', async (t) => {
  const pasted = 'MHcCAQEEIBogusKeyMaterialBogusKeyMaterial';
  try {
    parseText(`[signer]\nkey = "${pasted}"`);
    t.fail('was accepted');
  } catch (error) {
    t.notMatch(`${String(error)}${JSON.stringify((error as WritError).detail)}`, pasted);
  }
  try {
    parseText(`[signer]\nkey = ${pasted} x`);
    t.fail('was accepted');
  } catch (error) {
    t.notMatch(`${String(error)}${JSON.stringify((error as WritError).detail)}`, pasted);
  }
});

t.test('refuses options for an unregistered rule once the rule ids are known', async (t) => {
  t.strictSame(pathsOf('[rules.scop]\na=1'), []);
  const [issue] = issuesOf('[rules.scop]\na=1', ['scope', 'new-tests']);
  t.equal(issue?.path, 'rules.scop');
  t.match(issue?.message, 'did you mean `scope`');
  t.strictSame(parseText('[rules.new-tests]\na=1', ['scope', 'new-tests']).rules, { 'new-tests': { a: 1 } });
});

t.test('a check of a risk factor has the same limits as a check in a spec', async (t) => {
  const good = 'id="a"\ncommand="b"\nstage="fast"';
  const factor = (lines: string): readonly string[] => pathsOf(`[[factors.f.checks]]\n${lines}`);
  t.strictSame(factor(good), []);
  const at = (key: string): readonly string[] => [`factors.f.checks[0].${key}`];
  t.strictSame(factor('command="b"\nstage="fast"'), at('id'));
  t.strictSame(factor(`id="${'x'.repeat(129)}"\ncommand="b"\nstage="fast"`), at('id'));
  t.strictSame(factor('id="a"\nstage="fast"'), at('command'));
  t.strictSame(factor(`id="a"\ncommand="${'x'.repeat(2001)}"\nstage="fast"`), at('command'));
  t.strictSame(factor('id="a"\ncommand="b"'), at('stage'));
  t.strictSame(factor('id="a"\ncommand="b"\nstage="nightly"'), at('stage'));
  t.strictSame(factor(`${good}\nkind="script"`), at('kind'));
  t.strictSame(factor(`${good}\ntimeout_seconds=0`), at('timeout_seconds'));
  t.strictSame(factor(`${good}\nexpected_exit_code=256`), at('expected_exit_code'));
  t.strictSame(factor(`${good}\nrequired="yes"`), at('required'));
  t.strictSame(factor(`${good}\ntimeout=3`), at('timeout'));
  t.strictSame(pathsOf(`[[factors.f.checks]]\n${good}\n[[factors.f.checks]]\n${good}`), ['factors.f.checks']);
  t.strictSame(pathsOf('[factors.f]'), ['factors.f.checks'], 'a factor that adds nothing is a mistake');
  t.strictSame(pathsOf('[factors.f]\nchecks=[]\nnote="x"'), ['factors.f.checks', 'factors.f.note']);
  const many = Array.from({ length: 257 }, (_, index) => `[[factors.f${index}.checks]]\n${good}`).join('\n');
  t.strictSame(pathsOf(many), ['factors']);
});

t.test('refuses bytes that are not a TOML document', async (t) => {
  t.match(issuesOf('a = ')[0]?.message, /line 1/);
  t.equal(issuesOf('a = 1\na = 2').length, 1, 'a duplicate key');
  t.equal(issuesOf('[__proto__]\nx = 1').length, 1);
  t.equal(issuesOf('[rules.scope]\n__proto__ = { a = 1 }').length, 1, 'nor as an option');
  t.strictSame(
    pathsOf(`[rules.scope]\nx = ${'['.repeat(17)}${']'.repeat(17)}`),
    [''],
    'the parser itself stops at depth 16',
  );
  t.equal(issuesOf(Buffer.from([0x61, 0x3d, 0x22, 0xff, 0x22])).length, 1, 'not UTF-8');
  t.equal(issuesOf(`x = ${'['.repeat(5000)}`).length, 1, 'deep nesting');
  t.match(issuesOf(Buffer.alloc(256 * 1024 + 1, 0x20))[0]?.message, 'at most 262144 bytes');
  t.strictSame(
    parseConfig(Buffer.alloc(256 * 1024, 0x20), sealingForms),
    parseConfig(undefined, sealingForms),
    'the last allowed size is allowed',
  );
});

t.test('a scanner that is not pinned, or that no one owns a suppression of, is refused', async (t) => {
  const pinned = `argv = ["lines"]\nsha256 = "${'a'.repeat(64)}"\nformat = "sarif"\n`;
  const table = (text: string): readonly string[] => pathsOf(`[scanner.lines]\n${text}`);
  t.strictSame(table(pinned), []);
  t.strictSame(table('argv = ["lines"]\nformat = "sarif"'), ['scanner.lines.sha256']);
  t.strictSame(table(pinned.replace('"lines"', '"./lines"')), ['scanner.lines.argv']);
  t.strictSame(table(pinned.replace('sarif', 'text')), ['scanner.lines.format']);
  t.strictSame(table(`${pinned}network = "allow"`), ['scanner.lines.network']);
  t.strictSame(table(`${pinned}exit_codes = []`), ['scanner.lines.exit_codes']);
  t.strictSame(table(`${pinned}rules = ["../x"]\nreport = "a/b"`), [
    'scanner.lines.report',
    'scanner.lines.rules[0]',
  ]);
  t.strictSame(table(`${pinned}[[scanner.lines.read_only]]\npath = "rules"`), [
    'scanner.lines.read_only[0].sha256',
    'scanner.lines.read_only[0].path',
  ]);
  t.strictSame(table(`${pinned}[[scanner.lines.ignore]]\nrule = "x"\nuntil = "2027-02-30"\nreason = "y"`), [
    'scanner.lines.ignore[0].owner',
    'scanner.lines.ignore[0].until',
  ]);
});
