import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { readIntentSpec, semanticRules } from '../../spec/read-intent-spec.ts';
import { bytesOf, changed, type Json, put, sample, specFolder } from './sample.ts';

type Expected = readonly { readonly code: string; readonly path: string; readonly severity: string }[];

const invalid = new URL('invalid/', specFolder);
const expected = JSON.parse(readFileSync(new URL('expected.json', invalid), 'utf8')) as Record<
  string,
  Expected
>;

t.test('every valid fixture is accepted without an issue', async (t) => {
  for (const name of ['minimal', 'typical', 'high-assurance'] as const) {
    const read = readIntentSpec(bytesOf(sample(name)));
    t.strictSame(read.issues, [], name);
    t.ok(read.ok, name);
  }
});

t.test('every invalid fixture has exactly its issues, in the order of the document', async (t) => {
  const files = readdirSync(invalid).filter((name) => name !== 'expected.json');
  t.strictSame(files.sort(), Object.keys(expected).sort());
  for (const name of files) {
    const read = readIntentSpec(readFileSync(new URL(name, invalid)));
    t.strictSame(
      read.issues.map(({ code, path, severity }) => ({ code, path, severity })),
      expected[name],
      name,
    );
    t.equal(read.ok, !expected[name]?.some(({ severity }) => severity === 'error'), name);
    t.ok(
      read.issues.every(({ message }) => /^expected /.test(message) && !message.endsWith('.')),
      name,
    );
  }
});

t.test('fixtures show every code of the semantic rules and no other', async (t) => {
  const codes = (list: readonly string[]): readonly string[] => [...new Set(list)].sort();
  const shown = Object.values(expected).flatMap((issues) => issues.map(({ code }) => code));
  t.strictSame(
    codes(shown.filter((code) => code.startsWith('SEMANTIC_'))),
    codes(semanticRules.flatMap((rule) => rule.codes)),
  );
});

const accepts = (path: readonly (string | number)[], value: Json): boolean =>
  readIntentSpec(bytesOf(changed('minimal', path, value))).issues.length === 0;

t.test('a release check that requires approvers makes a human loop unnecessary', async (t) => {
  const at = ['risk', 'humanInLoop'];
  const remarks = (command: string): readonly string[] => {
    const document = sample('minimal');
    put(document, at, { required: false, minApprovers: 2 });
    put(document, ['constraints', 'licensing', 'forbidNewLicenses'], true);
    put(
      document,
      ['acceptance', 'verificationPlan', 'releaseChecks'],
      [{ id: 'people', kind: 'policy', command, required: true }],
    );
    return readIntentSpec(bytesOf(document)).issues.map(({ code }) => code);
  };
  for (const command of ['require-approvers', 'licenses --min 2', 'new-dependency', 'judge-changed'])
    t.strictSame(remarks(command), [], command);
  t.strictSame(remarks('verify-provenance'), ['SEMANTIC_HUMAN_LOOP_UNASKED']);
});

t.test('repository locators are validated for each type', async (t) => {
  const at = ['metadata', 'target', 'repo'];
  const table: readonly (readonly [type: string, locator: string, good: boolean])[] = [
    ['git', 'https://git.example.com/a/b.git', true],
    ['git', 'http://localhost:3000/a.git', true],
    ['git', 'ssh://git@git.example.com:2222/a/b', true],
    ['git', 'git@git.example.com:a/b.git', true],
    ['git', 'file:///srv/git/a.git', true],
    ['git', 'git+ssh://git@git.example.com/a', true],
    ['git', 'https://git.example.com', false],
    ['git', 'https://git.example.com/a b', false],
    ['git', 'https://user:pass@git.example.com/a', false],
    ['git', 'https://:pass@git.example.com/a', false],
    ['git', 'ftp://git.example.com/a', false],
    ['git', 'host:a/b', true],
    ['git', 'ext::sh -c x', false],
    ['git', '--upload-pack=touch x', false],
    ['git', 'a', false],
    ['monorepo', '//packages/basket', true],
    ['monorepo', '//packages/basket/', true],
    ['monorepo', '/packages', false],
    ['monorepo', '//', false],
    ['monorepo', '//a//b', false],
    ['monorepo', '//a/./b', false],
    ['monorepo', '//a\\b', false],
    ['local', '/srv/storefront', true],
    ['local', 'C:\\work\\storefront', true],
    ['local', '//server/share', false],
    ['local', '/srv/../etc', false],
    ['local', 'srv', false],
    ['local', '/srv/a\nb', false],
  ];
  for (const [type, locator, good] of table)
    t.equal(accepts(at, { type, locator }), good, `${type} ${JSON.stringify(locator)}`);
});

t.test('a base ref is a name, never an option or an expression', async (t) => {
  const at = ['metadata', 'target', 'baseRef'];
  for (const name of [
    'main',
    'release/2026.1',
    'v1.2.3',
    'HEAD',
    'refs/heads/main',
    'a'.repeat(40),
    'größe',
    'a-b_c',
  ]) {
    t.equal(accepts(at, name), true, name);
  }
  for (const name of [
    '-a',
    '--output=x',
    'a b',
    'a..b',
    'main~1',
    'main^',
    'a:b',
    'a?b',
    'a*',
    'a[b',
    'a\\b',
    '@{-1}',
    '@',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    'a\u0000b',
    'a\nb',
  ]) {
    t.equal(accepts(at, name), false, JSON.stringify(name));
  }
});

t.test('domain patterns are hosts, wildcards or addresses', async (t) => {
  for (const pattern of [
    'example.com',
    'EXAMPLE.com',
    '*.example.com',
    'bücher.example',
    'xn--bcher-kva.example',
    'localhost',
    '192.0.2.1',
    '2001:db8::1',
    '[2001:db8::1]',
    'a_b.example',
  ]) {
    t.equal(accepts(['evidence', 'allowedDomains'], [pattern]), true, pattern);
  }
  for (const pattern of [
    '*',
    '*.',
    '.example.com',
    'example..com',
    'example.com.',
    '*.192.0.2.1',
    'a.*.com',
    '*a.com',
    'https://example.com',
    'example.com/a',
    'example.com:443',
    'user@example.com',
    'ex ample.com',
    '[192.0.2.1]',
    '-a.com',
    'a%2ecom',
    '256.0.0.1.',
  ]) {
    t.equal(accepts(['evidence', 'allowedDomains'], [pattern]), false, pattern);
  }
});

t.test('the AI ref prefix must lie outside branches and tags', async (t) => {
  const at = ['objmodel', 'objectStore', 'aiRefPrefix'];
  for (const prefix of ['refs/ai/', 'refs/ai/team/', 'refs/x-bakery/', 'refs/x-bakery/ai/runs/'])
    t.equal(accepts(at, prefix), true, prefix);
  for (const prefix of [
    '',
    'refs/',
    'refs/heads/',
    'refs/tags/',
    'refs/ai',
    'refs/aix/',
    'refs/x-/',
    'refs/ai/../heads/',
    'refs/ai//',
    'refs/ai/a.lock/',
    '/refs/ai/',
    'refs/ai/\n',
    'refs/ai/-a/',
    'refs/notes/',
  ]) {
    t.equal(accepts(at, prefix), false, JSON.stringify(prefix));
  }
});

t.test('licenses must be SPDX ids, in any case, or LicenseRefs', async (t) => {
  const at = ['constraints', 'licensing', 'allowedSpdx'];
  for (const id of ['MIT', 'GPL-2.0', 'apache-2.0', 'LicenseRef-bakery-1'])
    t.equal(accepts(at, [id]), true, id);
  for (const id of ['Apache 2', 'MIT OR ISC', 'LicenseRef-', 'LicenseRef-a b', 'constructor', ''])
    t.equal(accepts(at, [id]), false, id);
});

t.test('a timeout at or above the recommended limit warns, and a default never does', async (t) => {
  for (const [list, limit] of [
    ['fastChecks', 600],
    ['integrationChecks', 3600],
    ['releaseChecks', 86401],
  ] as const) {
    const at = ['acceptance', 'verificationPlan', list];
    const check = { id: 'one', kind: 'command', command: 'npm test', required: true };
    t.equal(accepts(at, [check]), true, `${list} default`);
    t.equal(accepts(at, [{ ...check, timeoutSeconds: limit - 1 }]), true, `${list} below`);
    t.equal(accepts(at, [{ ...check, timeoutSeconds: limit }]), false, `${list} at the limit`);
  }
});

t.test('security words are found in camel case, paths and prose, not inside other words', async (t) => {
  const warns = (summary: string): boolean => {
    const document = sample('minimal');
    put(document, ['risk', 'level'], 'medium');
    put(document, ['intent', 'summary'], summary);
    return readIntentSpec(bytesOf(document)).issues.some(
      ({ code }) => code === 'SEMANTIC_MEDIUM_RISK_SECURITY_CODE',
    );
  };
  for (const text of [
    'Change src/auth/login.ts',
    'Fix verifyJwtToken',
    'Store PASSWORD_HASH elsewhere',
    'Use the crypto module',
    'OAuth2 client',
  ])
    t.ok(warns(text), text);
  for (const text of [
    'Thank the authors in the readme',
    'Round the totals of a basket',
    'Classify the aisles',
    'Rename an essential file',
  ])
    t.notOk(warns(text), text);
  const own = readIntentSpec(bytesOf(changed('typical', ['intent', 'summary'], 'Round basket totals')), {
    securityWords: ['basket'],
  });
  t.match(own.issues, [{ code: 'SEMANTIC_MEDIUM_RISK_SECURITY_CODE' }]);
});

t.test('each constraint value of the wrong shape causes its own warning', async (t) => {
  const at = ['security', 'toolAcl', 'allow', 0, 'constraints'];
  const good: { [key: string]: Json } = {
    writeRoots: ['src'],
    denyPaths: [],
    allowCommands: ['npm test'],
    denySubstrings: ['x'],
    maxOutputBytes: 0,
    maxWriteBytes: 1,
    maxResultBytes: 2,
    networkReason: 'advisories',
    networkHosts: ['*.example.com', 'a.example:8443', '[2001:db8::1]:8443'],
  };
  t.equal(accepts(at, good), true);
  const bad: { [key: string]: Json } = {
    writeRoots: 'src',
    denyPaths: [1],
    allowCommands: [''],
    denySubstrings: null,
    maxOutputBytes: -1,
    maxWriteBytes: '1',
    maxResultBytes: 1.5,
    networkReason: ' ',
    networkHosts: ['https://example.com'],
  };
  const read = readIntentSpec(bytesOf(changed('minimal', at, bad)));
  t.ok(read.ok);
  t.strictSame(
    read.issues.map(({ code, path }) => `${code} ${path}`),
    Object.keys(bad).map(
      (key) => `SEMANTIC_TOOL_CONSTRAINT_VALUE /security/toolAcl/allow/0/constraints/${key}`,
    ),
  );
  const noReason = readIntentSpec(bytesOf(changed('minimal', at, { networkHosts: ['a.example'] })));
  t.match(noReason.issues, [
    { code: 'SEMANTIC_TOOL_CONSTRAINT_VALUE', path: '/security/toolAcl/allow/0/constraints/networkHosts' },
  ]);
  const noHosts = readIntentSpec(bytesOf(changed('minimal', at, { networkReason: 'advisories' })));
  t.match(noHosts.issues, [
    { code: 'SEMANTIC_TOOL_CONSTRAINT_VALUE', path: '/security/toolAcl/allow/0/constraints/networkReason' },
  ]);
  const unknown = readIntentSpec(
    Buffer.from(
      JSON.stringify(changed('minimal', at, {})).replace(
        '"constraints":{}',
        '"constraints":{"__proto__":{},"constructor":1}',
      ),
    ),
  );
  t.strictSame(
    unknown.issues.map(({ code }) => code),
    ['SEMANTIC_TOOL_CONSTRAINT_UNKNOWN', 'SEMANTIC_TOOL_CONSTRAINT_UNKNOWN'],
  );
});
