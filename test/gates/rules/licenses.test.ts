import t from 'tap';
import type { ApprovalVerdict } from '../../../core/interfaces/approval.ts';
import { AllowedLicenses, judge, licenseKey, parseLicense } from '../../../gates/rules/licenses.ts';
import { type CaseFile, type GateCase, gateTester, toRuleInput } from '../../../testing.ts';
import { findRule } from './find-rule.ts';
import { type LockEntry, lockfile, manifest, registryEntry } from './npm-files.ts';

const old = { dependencies: { a: '^1.0.0' } };
const oldLock = { 'node_modules/a': registryEntry('a', '1.0.0', 'MIT') };
const only = (allowedSpdx: readonly string[], forbidNewLicenses = false): NonNullable<GateCase['spec']> => ({
  constraints: { licensing: { allowedSpdx, forbidNewLicenses } },
});
const lockTo = (packages: Readonly<Record<string, LockEntry>>): Record<string, CaseFile> => ({
  'package-lock.json': { base: lockfile(old, oldLock), candidate: lockfile(old, packages) },
});
const adds = (name: string, license: unknown, spec = only(['MIT', 'Apache-2.0'])): GateCase => ({
  name,
  spec,
  files: lockTo({ ...oldLock, 'node_modules/b': registryEntry('b', '1.0.0', license) }),
});
const detail = (license: string | null, code: string) => ({
  code,
  ecosystem: 'npm',
  name: 'b',
  version: '1.0.0',
  license,
  purl: 'pkg:npm/b@1.0.0',
});
const reviewedSpec = {
  constraints: { licensing: { allowedSpdx: ['MIT', 'ISC'], forbidNewLicenses: true } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'licence-review', kind: 'policy', command: 'licenses', required: true }],
    },
  },
} as unknown as NonNullable<GateCase['spec']>;
const released = { stage: { name: 'release', checks: [] } } as unknown as Required<Pick<GateCase, 'stage'>>;
const approvalAs = (role: string, decision: 'approve' | 'reject' = 'approve'): ApprovalVerdict => ({
  source: 'refs/ai/approvals/x/1',
  digest: '0'.repeat(64),
  decision,
  principal: 'ann@example.com',
  keyId: 'SHA256:x',
  role,
  signedAt: '2026-01-01T00:00:00Z',
  status: 'counts',
});
const crate = (license: string | undefined, options?: Readonly<Record<string, unknown>>): GateCase => ({
  name: `a crate under ${license ?? 'nothing'} with ${JSON.stringify(options ?? {})}`,
  spec: only(['MIT']),
  ...(options ? { options } : {}),
  files: {
    'Cargo.lock': {
      base: 'version = 3\n',
      candidate:
        'version = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
    },
    ...(license === undefined
      ? {}
      : {
          'vendor/serde/Cargo.toml': {
            candidate: `[package]\nname = "serde"\nversion = "1.0.0"\nlicense = "${license}"\n`,
          },
        }),
  },
});
const { license: _none, ...unlicensed } = registryEntry('b', '1.0.0');

await gateTester(t, findRule('licenses'), {
  valid: [
    adds('a listed license', 'MIT'),
    {
      name: 'the same choice as a package of the base, and the side that is allowed',
      spec: only(['MIT'], true),
      files: {
        'package-lock.json': {
          base: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.0', 'MIT OR GPL-3.0-only') }),
          candidate: lockfile(
            { dependencies: { a: '^1.0.0', b: '^1.0.0', c: '^1.0.0' } },
            {
              'node_modules/a': registryEntry('a', '1.0.0', 'MIT OR GPL-3.0-only'),
              'node_modules/b': registryEntry('b', '1.0.0', 'GPL-3.0-only OR MIT'),
              'node_modules/c': registryEntry('c', '1.0.0', 'MIT'),
            },
          ),
        },
      },
      expect: [],
    },
    adds('a choice with a listed one', '(GPL-3.0-only OR MIT)'),
    adds('both listed', 'MIT AND Apache-2.0'),
    adds('no restriction at all', 'GPL-3.0-only', only([])),
    {
      name: 'an old package under another license',
      spec: only(['MIT']),
      files: {
        'package-lock.json': {
          base: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.0', 'GPL-3.0-only') }),
          candidate: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.1', 'GPL-3.0-only') }),
        },
      },
    },
    {
      name: 'a workspace without a license',
      spec: only(['MIT']),
      files: lockTo({ ...oldLock, w: { version: '1.0.0' }, 'node_modules/w': { resolved: 'w', link: true } }),
    },
    adds('a license that the codebase has', 'MIT', only([], true)),
    adds('an old form that says MIT', { type: 'MIT' }),
    {
      name: 'a license that the codebase has in a lockfile that does not change',
      spec: only([], true),
      files: {
        'package-lock.json': { base: lockfile(old, oldLock), candidate: lockfile(old, oldLock) },
        'x/package-lock.json': {
          candidate: lockfile(old, { 'node_modules/b': registryEntry('b', '1.0.0', 'MIT') }),
        },
      },
    },
    crate('MIT/Apache-2.0'),
    crate(undefined, { packages: { 'pkg:cargo/serde': 'MIT OR Apache-2.0' } }),
    crate('GPL-3.0-only', { packages: { 'pkg:cargo/serde@1.0.0': 'MIT' } }),
    {
      ...adds('a new license with a review step, as a warning', 'ISC', reviewedSpec),
      expect: [{ severity: 'warning', detail: detail('ISC', 'new-license') }],
    },
    {
      ...adds('a new license in the release stage waits for approval', 'ISC', reviewedSpec),
      ...released,
      approvals: [approvalAs('maintainer')],
      expect: [
        { severity: 'warning' },
        {
          severity: 'note',
          message: 'waits for approval (1 new license): 0 of 1 people approved in the role `license-review`',
        },
      ],
    },
    {
      ...adds('a new license, reviewed', 'ISC', reviewedSpec),
      ...released,
      approvals: [approvalAs('License-Review')],
      expect: [{ severity: 'warning' }],
    },
    { ...adds('no new license: no approval is requested', 'MIT', reviewedSpec), ...released, expect: [] },
  ],
  invalid: [
    {
      ...adds('a new license whose review says no', 'ISC', reviewedSpec),
      ...released,
      approvals: [approvalAs('license-review', 'reject')],
    },
    { ...crate(undefined), expect: [{ path: 'Cargo.lock', line: 4 }] },
    crate('GPL-3.0-only'),
    crate('GPL-3.0-only', { packages: { 'pkg:cargo/serde': 'MIT' } }),
    crate(undefined, { packages: { 'pkg:cargo/serde@2.0.0': 'MIT' } }),
    {
      ...adds('a license that is not listed', 'GPL-3.0-only'),
      expect: [
        {
          rule: 'licenses',
          path: 'package-lock.json',
          detail: detail('GPL-3.0-only', 'not-allowed'),
        },
      ],
    },
    adds('one of two is not listed', 'MIT AND GPL-3.0-only'),
    {
      name: 'an archive beside the sources, which no tool reads',
      spec: only(['MIT']),
      files: lockTo({
        ...oldLock,
        'node_modules/v': { version: '1.0.0', resolved: 'file:vendor/v-1.0.0.tgz', license: 'GPL-3.0-only' },
      }),
    },
    {
      name: 'an alternative of a choice of licenses that the base could avoid',
      spec: only([], true),
      files: {
        'package-lock.json': {
          base: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.0', 'MIT OR GPL-3.0-only') }),
          candidate: lockfile(
            { dependencies: { a: '^1.0.0', b: '^1.0.0' } },
            {
              'node_modules/a': registryEntry('a', '1.0.0', 'MIT OR GPL-3.0-only'),
              'node_modules/b': registryEntry('b', '1.0.0', 'GPL-3.0-only'),
            },
          ),
        },
      },
      expect: [{ detail: detail('GPL-3.0-only', 'new-license') }],
    },
    adds('a choice without a listed one', 'ISC OR GPL-3.0-only'),
    ...[
      'SEE LICENSE IN LICENSE',
      'UNLICENSED',
      'MIT/X11',
      'mit license',
      '',
      '$MIT',
      'MIT OR',
      { type: 'GPL' },
      ['MIT', 7],
    ].map((license) => adds(`no SPDX expression: ${JSON.stringify(license)}`, license)),
    {
      name: 'no license',
      spec: only(['MIT']),
      files: lockTo({ ...oldLock, 'node_modules/b': unlicensed }),
      expect: [{ detail: detail(null, 'unknown') }],
    },
    {
      name: 'an upgrade that changes the license',
      spec: only(['MIT']),
      files: lockTo({ 'node_modules/a': registryEntry('a', '2.0.0', 'BUSL-1.1') }),
    },
    {
      name: 'a declared package that no lockfile holds',
      spec: only(['MIT']),
      files: {
        'package.json': {
          base: manifest(old),
          candidate: manifest({ dependencies: { a: '^1.0.0', b: '1' } }),
        },
      },
    },
    {
      name: 'a lockfile of version 1, which holds no licenses',
      spec: only(['MIT']),
      files: {
        'package-lock.json': {
          candidate: JSON.stringify({ lockfileVersion: 1, dependencies: { b: { version: '1.0.0' } } }),
        },
      },
    },
    {
      name: 'a lockfile that cannot be read',
      spec: only(['MIT']),
      files: { 'package-lock.json': { base: lockfile(old, oldLock), candidate: '{' } },
    },
    {
      ...adds('a license that the codebase has not', 'ISC', only(['MIT', 'ISC'], true)),
      expect: [{ detail: detail('ISC', 'new-license') }],
    },
  ],
});

t.test('license expressions are evaluated as SPDX defines', async (t) => {
  const cases: readonly (readonly [expression: string, allowed: readonly string[], met: boolean])[] = [
    ['MIT', ['mit'], true],
    ['MIT OR (ISC AND GPL-2.0-only)', ['ISC', 'GPL-2.0-only'], true],
    ['MIT OR (ISC AND GPL-2.0-only)', ['ISC'], false],
    ['MIT AND ISC OR GPL-2.0-only', ['GPL-2.0-only'], true],
    ['Apache-1.1+', ['Apache-1.1'], true],
    ['Apache-1.1', ['Apache-1.1+'], false],
    ['Apache-2.0 WITH LLVM-exception', ['Apache-2.0'], false],
    ['Apache-2.0 WITH LLVM-exception', ['Apache-2.0 WITH LLVM-exception'], true],
    ['Apache-2.0 WITH LLVM-exception', ['Apache-2.0', 'LLVM-exception'], true],
    ['apache-2.0 WITH llvm-Exception', ['Apache-2.0', 'llvm-exception'], true],
    ['LicenseRef-Acme', ['MIT'], false],
    ['LicenseRef-Acme', ['LicenseRef-Acme'], true],
    ['GPL-2.0', ['GPL-2.0-only'], true],
    ['GPL-2.0+', ['GPL-2.0-or-later'], true],
    ['GPL-2.0-or-later', ['GPL-3.0-only'], true],
    ['GPL-3.0-or-later', ['GPL-2.0-only'], false],
    ['GPL-2.0-only', ['GPL-2.0-or-later'], false],
    ['LGPL-2.1-or-later', ['GPL-3.0-only'], false],
    ['MPL-1.1+', ['MPL-2.0'], true],
  ];
  for (const [expression, allowed, met] of cases) {
    const node = parseLicense(expression);
    t.equal(
      node && new AllowedLicenses(allowed).allows(node),
      met,
      `${expression} under ${allowed.join(', ')}`,
    );
  }
});

t.test('text that is not an expression, or too deeply nested, is an unknown license', async (t) => {
  for (const text of [
    'MIT; GPL-3.0-only',
    'MIT\nOR ISC',
    '((((MIT',
    `${'('.repeat(2000)}MIT${')'.repeat(2000)}`,
    'é MIT',
    undefined,
  ]) {
    t.equal(parseLicense(text), undefined);
  }
});

t.test('equivalent license expressions have the same key', async (t) => {
  t.same(parseLicense('mit or apache-2.0'), parseLicense('MIT OR Apache-2.0'), 'SPDX compares without case');
  t.equal(licenseKey('gpl-2.0+'), licenseKey('GPL-2.0-or-later'));
  t.equal(licenseKey('(MIT OR ISC)'), licenseKey('ISC or MIT'.replace('or', 'OR')));
  t.equal(licenseKey('MIT OR (ISC OR Zlib)'), licenseKey('Zlib OR ISC OR MIT'));
  t.not(licenseKey('MIT AND ISC'), licenseKey('MIT OR ISC'));
});

t.test('at most 200 refusals are listed, and an error counts the rest', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `node_modules/b${n}`,
      registryEntry(`b${n}`, '1.0.0', 'GPL-3.0-only'),
    ]),
  );
  const files = lockTo({ ...oldLock, ...many });
  const findings = await judge(toRuleInput({ name: 'x', spec: only(['MIT']), files }));
  t.equal(findings.length, 201);
  t.match(findings.at(-1), { severity: 'error', message: '100 more findings are not listed' });
});
