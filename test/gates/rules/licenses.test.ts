import t from 'tap';
import { isAllowed, parseLicense, toLicenseSet } from '../../../gates/npm/license-expression.ts';
import { type CaseFile, type GateCase, gateTester } from '../../../testing.ts';
import { findRule } from './find-rule.ts';
import { type LockEntry, lockfile, manifest, registryEntry } from './npm-files.ts';

const old = { dependencies: { a: '^1.0.0' } };
const oldLock = { 'node_modules/a': registryEntry('a', '1.0.0', 'MIT') };
const only = (allowedSpdx: readonly string[], forbidNewLicenses = false) => ({
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
const { license: _none, ...unlicensed } = registryEntry('b', '1.0.0');

await gateTester(t, findRule('licenses'), {
  valid: [
    adds('a listed licence', 'MIT'),
    adds('a choice with a listed one', '(GPL-3.0-only OR MIT)'),
    adds('both listed', 'MIT AND Apache-2.0'),
    adds('no restriction at all', 'GPL-3.0-only', only([])),
    {
      name: 'an old package under another licence',
      spec: only(['MIT']),
      files: {
        'package-lock.json': {
          base: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.0', 'GPL-3.0-only') }),
          candidate: lockfile(old, { 'node_modules/a': registryEntry('a', '1.0.1', 'GPL-3.0-only') }),
        },
      },
    },
    {
      name: 'a workspace without a licence',
      spec: only(['MIT']),
      files: lockTo({ ...oldLock, w: { version: '1.0.0' }, 'node_modules/w': { resolved: 'w', link: true } }),
    },
    adds('a licence that the codebase has', 'MIT', only([], true)),
  ],
  invalid: [
    {
      ...adds('a licence that is not listed', 'GPL-3.0-only'),
      expect: [
        {
          rule: 'licenses',
          path: 'package-lock.json',
          detail: { name: 'b', version: '1.0.0', license: 'GPL-3.0-only', code: 'not-allowed' },
        },
      ],
    },
    adds('one of two is not listed', 'MIT AND GPL-3.0-only'),
    adds('a choice without a listed one', 'ISC OR GPL-3.0-only'),
    ...[
      'SEE LICENSE IN LICENSE',
      'UNLICENSED',
      'MIT/X11',
      'mit licence',
      '',
      '$MIT',
      'MIT OR',
      { type: 'MIT' },
      ['MIT'],
    ].map((license) => adds(`no SPDX expression: ${JSON.stringify(license)}`, license)),
    {
      name: 'no licence',
      spec: only(['MIT']),
      files: lockTo({ ...oldLock, 'node_modules/b': unlicensed }),
      expect: [{ detail: { name: 'b', version: '1.0.0', license: null, code: 'unknown' } }],
    },
    {
      name: 'an upgrade that changes the licence',
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
      name: 'a lockfile of version 1, which holds no licences',
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
      ...adds('a licence that the codebase has not', 'ISC', only(['MIT', 'ISC'], true)),
      expect: [{ detail: { name: 'b', version: '1.0.0', license: 'ISC', code: 'new-license' } }],
    },
  ],
});

t.test('expressions are met as SPDX means them', async (t) => {
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
    ['LicenseRef-Acme', ['MIT'], false],
  ];
  for (const [expression, allowed, met] of cases) {
    const node = parseLicense(expression);
    t.equal(node && isAllowed(node, toLicenseSet(allowed)), met, `${expression} under ${allowed.join(', ')}`);
  }
});

t.test('text that is no expression, too long or nested without end is unknown', async (t) => {
  for (const text of [
    'MIT; GPL-3.0-only',
    'MIT\nOR ISC',
    '((((MIT',
    `${'('.repeat(2000)}MIT${')'.repeat(2000)}`,
    'é MIT',
    undefined,
    null,
    7,
  ]) {
    t.equal(parseLicense(text), undefined);
  }
});
