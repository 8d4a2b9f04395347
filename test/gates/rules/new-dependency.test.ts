import t from 'tap';
import { type CaseFile, gateTester } from '../../../testing.ts';
import { findRule } from './find-rule.ts';
import { type LockEntry, lockfile, manifest, registryEntry } from './npm-files.ts';

const spec = (dependencyPolicy: 'no-new' | 'allow' | 'allow-with-review') => ({
  constraints: { security: { dependencyPolicy } },
});
const noNew = spec('no-new');
const old = { dependencies: { a: '^1.0.0' } };
const oldLock = { 'node_modules/a': registryEntry('a', '1.0.0') };

/** package.json and package-lock.json, base to candidate. */
const project = (
  fields: object,
  packages: Readonly<Record<string, LockEntry>>,
  root = fields,
): Record<string, CaseFile> => ({
  'package.json': { base: manifest(old), candidate: manifest(fields) },
  'package-lock.json': { base: lockfile(old, oldLock), candidate: lockfile(root, packages) },
});
const withB = { dependencies: { a: '^1.0.0', b: '^2.0.0' } };
const locked = (name: string, entry: LockEntry) => ({ ...oldLock, [`node_modules/${name}`]: entry });
const lock1 = (dependencies: object) =>
  JSON.stringify({ name: 'x', lockfileVersion: 1, dependencies }, undefined, 2);
const entry1 = (name: string) => ({
  version: '1.0.0',
  resolved: `https://registry.example/${name}/-/${name}-1.0.0.tgz`,
});

await gateTester(t, findRule('new-dependency'), {
  valid: [
    { name: 'no npm file in the patch', files: { 'a.ts': { candidate: 'a\n' } }, spec: noNew },
    {
      name: 'an upgrade',
      files: project({ dependencies: { a: '^2.0.0' } }, { 'node_modules/a': registryEntry('a', '2.0.0') }),
      spec: noNew,
    },
    {
      name: 'another script',
      files: {
        'package.json': { base: manifest(old), candidate: manifest({ ...old, scripts: { test: 'x' } }) },
      },
      spec: noNew,
    },
    { name: 'a removed dependency', files: project({}, {}), spec: noNew },
    {
      name: 'a dependency moved to another field',
      files: project({ devDependencies: { a: '^1.0.0' } }, oldLock),
      spec: noNew,
    },
    {
      name: 'another copy of a known package',
      files: project(old, locked('b/node_modules/a', registryEntry('a', '0.9.0'))),
      spec: noNew,
    },
    {
      name: 'a workspace',
      files: project(
        { ...old, workspaces: ['w'], dependencies: { a: '^1.0.0', w: 'workspace:*' } },
        { ...oldLock, 'node_modules/w': { resolved: 'w', link: true }, w: { name: 'w', version: '1.0.0' } },
      ),
      spec: noNew,
    },
    {
      name: 'a directory of the repository',
      files: project(
        { dependencies: { a: '^1.0.0', w: 'file:./w' } },
        { ...oldLock, 'node_modules/w': { resolved: 'w', link: true } },
      ),
      spec: noNew,
    },
    {
      name: 'an override that fixes a version',
      files: project({ ...old, overrides: { a: '1.0.1' } }, oldLock),
      spec: noNew,
    },
    {
      name: 'a lockfile that was wrong before',
      files: {
        'package-lock.json': {
          base: lockfile(old, { 'node_modules/a': registryEntry('z', '1.0.0') }),
          candidate: lockfile({ ...old, license: 'MIT' }, { 'node_modules/a': registryEntry('z', '1.0.0') }),
        },
      },
      spec: noNew,
    },
    {
      name: 'a byte order mark',
      files: {
        'package.json': { base: manifest(old), candidate: `\uFEFF${manifest({ ...old, scripts: {} })}` },
      },
      spec: noNew,
    },
    {
      name: 'a new one under `allow`, as a note',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: spec('allow'),
      expect: [{ severity: 'note' }],
    },
    {
      name: 'another ecosystem under `allow`',
      files: { 'go.mod': { candidate: 'module x\n' } },
      spec: spec('allow'),
    },
    { name: 'a deleted package.json', files: { 'package.json': { base: manifest(old) } }, spec: noNew },
  ],
  invalid: [
    {
      name: 'a new direct dependency',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: noNew,
      expect: [
        {
          rule: 'new-dependency',
          path: 'package.json',
          line: 6,
          detail: {
            name: 'b',
            relation: 'direct',
            field: 'dependencies',
            spec: '^2.0.0',
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a new transitive dependency',
      files: project(old, {
        'node_modules/a': { ...registryEntry('a', '1.1.0'), dependencies: { c: '*' } },
        'node_modules/c': registryEntry('c', '1.0.0'),
      }),
      spec: noNew,
      expect: [
        {
          path: 'package-lock.json',
          detail: {
            name: 'c',
            version: '1.0.0',
            relation: 'transitive',
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a package in the lockfile that nothing asks for',
      files: project(old, locked('c', registryEntry('c', '1.0.0'))),
      spec: noNew,
      expect: [
        {
          detail: {
            name: 'c',
            version: '1.0.0',
            relation: 'unrequested',
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a package.json without its lockfile',
      files: { 'package.json': { base: manifest(old), candidate: manifest(withB) } },
      spec: noNew,
    },
    ...['devDependencies', 'optionalDependencies', 'peerDependencies'].map((field) => ({
      name: field,
      files: {
        'package.json': { base: manifest(old), candidate: manifest({ ...old, [field]: { b: '1' } }) },
      },
      spec: noNew,
      expect: [{ path: 'package.json' }],
    })),
    {
      name: 'an alias of another package',
      files: project(
        { dependencies: { a: 'npm:evil@1.0.0' } },
        { 'node_modules/a': { ...registryEntry('evil', '1.0.0'), name: 'evil' } },
      ),
      spec: noNew,
      expect: [
        {
          path: 'package.json',
          detail: {
            name: 'evil',
            relation: 'direct',
            field: 'dependencies',
            spec: 'npm:evil@1.0.0',
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    ...[
      'github:x/y',
      'x/y',
      'git+ssh://git@example.com/x/y.git#main',
      'https://example.com/y.tgz',
      'file:./y.tgz',
    ].map((source) => ({
      name: `a known name from \`${source}\``,
      files: {
        'package.json': { base: manifest(old), candidate: manifest({ dependencies: { a: source } }) },
      },
      spec: noNew,
      expect: [{ path: 'package.json' }],
    })),
    {
      name: 'an override by another package',
      files: {
        'package.json': {
          base: manifest(old),
          candidate: manifest({ ...old, overrides: { a: { b: 'npm:evil@1' } } }),
        },
      },
      spec: noNew,
      expect: [{ path: 'package.json' }],
    },
    {
      name: 'a git dependency in both files, told once',
      files: project(
        { dependencies: { a: '^1.0.0', y: 'github:x/y' } },
        locked('y', { version: '1.0.0', resolved: 'git+ssh://git@github.com/x/y.git#0123456789' }),
      ),
      spec: noNew,
      expect: [{ path: 'package.json' }],
    },
    {
      name: 'a lockfile of version 1',
      files: {
        'package-lock.json': {
          base: lock1({ a: entry1('a') }),
          candidate: lock1({ a: { ...entry1('a'), requires: { b: '1' }, dependencies: { b: entry1('b') } } }),
        },
      },
      spec: noNew,
      expect: [
        {
          detail: {
            name: 'b',
            version: '1.0.0',
            relation: 'transitive',
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a version 2 lockfile that hides a package in its old half',
      files: {
        'package-lock.json': {
          base: lockfile(old, oldLock),
          candidate: JSON.stringify({
            ...JSON.parse(lockfile(old, oldLock)),
            lockfileVersion: 2,
            dependencies: { b: entry1('b') },
          }),
        },
      },
      spec: noNew,
    },
    {
      name: 'an npm-shrinkwrap.json',
      files: {
        'npm-shrinkwrap.json': {
          base: lockfile(old, oldLock),
          candidate: lockfile(withB, locked('b', registryEntry('b', '2.0.0'))),
        },
      },
      spec: noNew,
    },
    {
      name: 'a workspace’s own package.json',
      files: {
        'packages/w/package.json': { base: manifest({}), candidate: manifest({ dependencies: { b: '1' } }) },
      },
      spec: noNew,
    },
    {
      name: 'a package.json that is new',
      files: { 'w/package.json': { candidate: manifest({ dependencies: { b: '1' } }) } },
      spec: noNew,
    },
    {
      name: 'an entry that fetches another package, even under `allow`',
      files: project(old, {
        'node_modules/a': {
          ...registryEntry('a', '1.0.1'),
          resolved: 'https://registry.example/evil/-/evil-1.0.1.tgz',
        },
      }),
      spec: spec('allow'),
      expect: [{ severity: 'error', path: 'package-lock.json', detail: { name: 'a', resolvedAs: 'evil' } }],
    },
    {
      name: 'an entry whose scope is another',
      files: project(old, {
        'node_modules/a': {
          ...registryEntry('a', '1.0.1'),
          resolved: 'https://registry.example/@evil/a/-/a-1.0.1.tgz',
        },
      }),
      spec: spec('allow'),
      expect: [{ detail: { name: 'a', resolvedAs: '@evil/a' } }],
    },
    {
      name: 'an entry from another host',
      files: project(old, {
        'node_modules/a': {
          ...registryEntry('a', '1.0.0'),
          resolved: 'https://evil.example/a/-/a-1.0.0.tgz',
        },
      }),
      spec: noNew,
      expect: [{ detail: { name: 'a', origin: 'https://evil.example', policy: 'no-new' } }],
    },
    {
      name: 'a new one under `allow-with-review`',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: spec('allow-with-review'),
      expect: [{ severity: 'error' }],
    },
    {
      name: 'a package.json that is no JSON, even under `allow`',
      files: { 'package.json': { base: manifest(old), candidate: '{"dependencies": {' } },
      spec: spec('allow'),
      expect: [{ severity: 'error', path: 'package.json' }],
    },
    { name: 'a package.json that is a list', files: { 'package.json': { candidate: '[]' } }, spec: noNew },
    {
      name: 'dependencies that are a list',
      files: { 'package.json': { candidate: manifest({ dependencies: ['b'] }) } },
      spec: noNew,
    },
    {
      name: 'a lockfile that is no lockfile',
      files: { 'package-lock.json': { base: lockfile(old, oldLock), candidate: '{}' } },
      spec: noNew,
    },
    {
      name: 'a name that objects have of themselves',
      files: {
        'package.json': {
          base: manifest(old),
          candidate: '{"dependencies":{"a":"1","__proto__":"1","constructor":"1"}}',
        },
      },
      spec: noNew,
      expect: [
        {
          detail: {
            name: '__proto__',
            relation: 'direct',
            field: 'dependencies',
            spec: '1',
            source: 'registry',
            policy: 'no-new',
          },
        },
        { path: 'package.json' },
      ],
    },
    {
      name: 'a lockfile of another ecosystem',
      files: { 'go.mod': { base: 'module x\n', candidate: 'module x\nrequire y v1\n' } },
      spec: noNew,
      expect: [{ path: 'go.mod' }],
    },
  ],
});
