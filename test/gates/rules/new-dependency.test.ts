import t from 'tap';
import type { ApprovalVerdict } from '../../../core/interfaces/approval.ts';
import { type CaseFile, type GateCase, gateTester } from '../../../testing.ts';
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
const npmrc = (base: string, candidate: string): Record<string, CaseFile> => ({
  '.npmrc': { base, candidate },
});
const withHash = (integrity: object): Record<string, CaseFile> => {
  const bare = { ...registryEntry('a', '1.0.0'), integrity: undefined };
  const before = { ...bare, integrity: `sha512-${Buffer.alloc(64, 1).toString('base64')}` };
  return {
    'package-lock.json': {
      base: lockfile(old, { 'node_modules/a': before }),
      candidate: lockfile(old, { 'node_modules/a': { ...bare, ...integrity } }),
    },
  };
};
const withB = { dependencies: { a: '^1.0.0', b: '^2.0.0' } };
const locked = (name: string, entry: LockEntry) => ({ ...oldLock, [`node_modules/${name}`]: entry });
const lock1 = (dependencies: object) =>
  JSON.stringify({ name: 'x', lockfileVersion: 1, dependencies }, undefined, 2);
const entry1 = (name: string) => ({
  version: '1.0.0',
  resolved: `https://registry.example/${name}/-/${name}-1.0.0.tgz`,
});

const reviewed = {
  constraints: { security: { dependencyPolicy: 'allow-with-review' } },
  risk: { humanInLoop: { required: true, minApprovers: 1 } },
  artifacts: { required: [{ name: 'sca-report', stage: 'security', required: true, format: '' }] },
} as unknown as NonNullable<GateCase['spec']>;
const atRelease = {
  stage: { name: 'release', checks: [] },
  artifacts: [
    {
      name: 'sca-report',
      stage: 'security',
      sha256: '0'.repeat(64),
      sizeBytes: 1,
      contentType: 'text/plain',
    },
  ],
} as unknown as Required<Pick<GateCase, 'stage' | 'artifacts'>>;
const approval = (decision: 'approve' | 'reject'): ApprovalVerdict => ({
  source: 'refs/ai/approvals/x/1',
  digest: '0'.repeat(64),
  decision,
  principal: 'ann@example.com',
  keyId: 'SHA256:x',
  signedAt: '2026-01-01T00:00:00Z',
  status: 'counts',
});

/** One new package for each kind of file; `line` is where it stands in the candidate. */
const ecosystems = [
  {
    name: 'Cargo.lock',
    path: 'Cargo.lock',
    base: 'version = 3\n',
    candidate:
      'version = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
    finds: { name: 'serde', line: 4 },
  },
  {
    name: 'Cargo.toml, renamed',
    path: 'Cargo.toml',
    base: '[package]\nname = "x"\n\n[dependencies]\nserde = "1"\n',
    candidate: '[package]\nname = "x"\n\n[dependencies]\nserde = { package = "evil", version = "1" }\n',
    finds: { name: 'evil as serde', line: 5 },
  },
  {
    name: 'go.mod',
    path: 'go.mod',
    base: 'module x\n',
    candidate: 'module x\n\nrequire example.com/y v1.0.0\n',
    finds: { name: 'example.com/y', line: 3 },
  },
  {
    name: 'go.mod, replaced',
    path: 'go.mod',
    base: 'module x\n\nrequire example.com/y v1.0.0\n',
    candidate:
      'module x\n\nrequire example.com/y v1.0.0\n\nreplace example.com/y => example.com/fork v1.0.1\n',
    finds: { name: 'example.com/fork', line: 3 },
  },
  {
    name: 'requirements.txt',
    path: 'requirements.txt',
    base: 'a==1.0\n',
    candidate: 'a==1.0\nB_c[x]==2.0 ; python_version > "3"  # why\n',
    finds: { name: 'b-c', line: 2 },
  },
  {
    name: 'pyproject.toml',
    path: 'pyproject.toml',
    base: '[project]\nname = "x"\ndependencies = []\n',
    candidate: '[project]\nname = "x"\ndependencies = [\n  "httpx>=0.2",\n]\n',
    finds: { name: 'httpx', line: 4 },
  },
  {
    name: 'pom.xml',
    path: 'pom.xml',
    base: '<project><artifactId>x</artifactId></project>\n',
    candidate:
      '<project><artifactId>x</artifactId>\n<dependencies>\n<dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency></dependencies></project>\n',
    finds: { name: 'g:a', line: 3 },
  },
  {
    name: 'gradle.lockfile',
    path: 'gradle.lockfile',
    base: 'empty=\n',
    candidate: 'g:a:1.0=runtimeClasspath\nempty=\n',
    finds: { name: 'g:a', line: 1 },
  },
  {
    name: 'Gemfile.lock',
    path: 'Gemfile.lock',
    base: 'GEM\n  remote: https://rubygems.org/\n  specs:\n',
    candidate: 'GEM\n  remote: https://rubygems.org/\n  specs:\n    rack (3.0.0)\n\nDEPENDENCIES\n  rack\n',
    finds: { name: 'rack', line: 4 },
  },
  {
    name: 'composer.lock',
    path: 'composer.lock',
    base: '{"packages": []}\n',
    candidate: '{"packages": [\n{"name": "a/b", "version": "1.0.0"}]}\n',
    finds: { name: 'a/b', line: 2 },
  },
  {
    name: 'pnpm-lock.yaml',
    path: 'pnpm-lock.yaml',
    base: "lockfileVersion: '9.0'\n",
    candidate: "lockfileVersion: '9.0'\n\npackages:\n\n  b@1.0.0:\n    resolution: {integrity: x}\n",
    finds: { name: 'b', line: 5 },
  },
  {
    name: 'yarn.lock',
    path: 'yarn.lock',
    base: '# yarn lockfile v1\n',
    candidate: '# yarn lockfile v1\n\n\nb@^1.0.0:\n  version "1.0.0"\n',
    finds: { name: 'b', line: 4 },
  },
];

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
    {
      name: 'a package that another project of the repository has already',
      files: {
        'x/package.json': { candidate: manifest(old) },
        'package.json': { base: manifest(old), candidate: manifest(old) },
      },
      spec: noNew,
    },
    {
      name: 'a reviewed one, as a warning, if the contract requires report and approval',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: reviewed,
      expect: [{ severity: 'warning', path: 'package.json' }],
    },
    {
      name: 'a reviewed one in the release stage waits for approval',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: reviewed,
      ...atRelease,
      expect: [
        { severity: 'warning' },
        { severity: 'note', message: 'waits for approval (1 new dependency): 0 of 1 people approved' },
      ],
    },
    {
      name: 'a reviewed and approved one',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: reviewed,
      ...atRelease,
      approvals: [approval('approve')],
      expect: [{ severity: 'warning' }],
    },
    {
      name: 'the same registry written otherwise',
      files: npmrc('registry=https://good.example/', 'registry = "https://u:p@good.example"'),
      spec: noNew,
    },
    {
      name: 'another registry under `allow`, as a note',
      files: npmrc('registry=https://good.example/', 'registry=https://evil.example/'),
      spec: spec('allow'),
      expect: [{ severity: 'note', path: '.npmrc' }],
    },
    {
      name: 'another registry, reviewed and approved',
      files: npmrc('registry=https://good.example/', 'registry=https://evil.example/'),
      spec: reviewed,
      ...atRelease,
      approvals: [approval('approve')],
      expect: [{ severity: 'warning' }],
    },
    {
      name: 'another registry in the release stage waits for approval',
      files: npmrc('registry=https://good.example/', 'registry=https://evil.example/'),
      spec: reviewed,
      ...atRelease,
      expect: [
        { severity: 'warning' },
        {
          severity: 'note',
          message: 'waits for approval (1 change of where packages come from): 0 of 1 people approved',
        },
      ],
    },
    {
      name: 'a configuration that cannot be read, under `allow`',
      files: { '.yarnrc.yml': { candidate: 'a: [' } },
      spec: spec('allow'),
      expect: [{ severity: 'note', path: '.yarnrc.yml' }],
    },
    {
      name: 'a setup.py that computes what it needs, unchanged',
      files: {
        'setup.py': { base: 'setup(install_requires=x())\n', candidate: 'setup(install_requires=x())\n' },
        'requirements.txt': { base: 'a==1\n', candidate: 'a==2\n' },
      },
      spec: noNew,
    },
    {
      name: 'an include of any name',
      files: {
        'requirements.txt': { base: '-r deps/x.txt\n', candidate: '-r deps/x.txt\n# x\n' },
        'deps/x.txt': { base: 'a==1\n', candidate: 'a==1\n' },
      },
      spec: noNew,
    },
    { name: 'a deleted package.json', files: { 'package.json': { base: manifest(old) } }, spec: noNew },
  ],
  invalid: [
    {
      name: 'another registry',
      files: npmrc('registry=https://good.example/', 'x=1\nregistry=https://u:p@evil.example/?t=1'),
      spec: noNew,
      expect: [
        {
          severity: 'error',
          path: '.npmrc',
          line: 2,
          detail: {
            code: 'SOURCE_CHANGED',
            key: 'registry',
            was: 'https://good.example',
            is: 'https://evil.example',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'another registry under `allow-with-review` without a request for approval',
      files: npmrc('registry=https://good.example/', ''),
      spec: spec('allow-with-review'),
      expect: [{ path: '.npmrc' }],
    },
    {
      name: 'an active copy of an inactive configuration',
      files: {
        'package.json': { base: manifest(old), candidate: manifest(old) },
        '.npmrc': {
          oldPath: 'npmrc.example',
          base: 'registry=https://x.example\n',
          candidate: 'registry=https://x.example\n',
        },
      },
      spec: noNew,
      expect: [{ path: '.npmrc' }],
    },
    {
      name: 'a configuration that is moved out of the way',
      files: {
        'package.json': { base: manifest(old), candidate: manifest(old) },
        'npmrc.old': {
          oldPath: '.npmrc',
          base: 'registry=https://x.example\n',
          candidate: 'registry=https://x.example\n',
        },
      },
      spec: noNew,
      expect: [{ path: '.npmrc' }],
    },
    {
      name: 'a lost hash',
      files: withHash({}),
      spec: noNew,
      expect: [
        {
          path: 'package-lock.json',
          detail: { code: 'HASH_LOST', name: 'a', version: '1.0.0', policy: 'no-new' },
        },
      ],
    },
    {
      name: 'another hash',
      files: withHash({ integrity: `sha512-${Buffer.alloc(64, 9).toString('base64')}` }),
      spec: noNew,
      expect: [{ detail: { code: 'HASH_CHANGED', name: 'a', version: '1.0.0', policy: 'no-new' } }],
    },
    {
      name: 'a link that leads out of the repository',
      files: project(old, { ...oldLock, 'node_modules/a': { resolved: '../../x', link: true } }),
      spec: noNew,
      expect: [{ path: 'package-lock.json' }],
    },
    {
      name: 'a setup.py that computes what it needs',
      files: { 'setup.py': { base: 'setup()\n', candidate: 'setup(install_requires=x())\n' } },
      spec: noNew,
      expect: [{ path: 'setup.py' }, { severity: 'note' }],
    },
    {
      name: 'a package that an included file of any name requires',
      files: {
        'requirements.txt': { base: '-r deps/x.txt\n', candidate: '-r deps/x.txt\n' },
        'deps/x.txt': { base: 'a==1\n', candidate: 'a==1\nb==1\n' },
      },
      spec: noNew,
      expect: [{ path: 'deps/x.txt', line: 2 }],
    },
    {
      name: 'a pnpmfile',
      files: { '.pnpmfile.cjs': { candidate: 'module.exports = {}\n' } },
      spec: noNew,
      expect: [{ path: '.pnpmfile.cjs' }],
    },
    {
      name: 'a known name that a workspace file replaces',
      files: {
        'package.json': { base: manifest(old), candidate: manifest(old) },
        'pnpm-workspace.yaml': {
          base: 'packages: []\n',
          candidate: 'packages: []\noverrides:\n  a: npm:evil@1\n',
        },
      },
      spec: noNew,
      expect: [{ path: 'pnpm-workspace.yaml' }],
    },
    {
      name: 'a program that Maven loads',
      files: {
        '.mvn/extensions.xml': {
          candidate:
            '<extensions><extension><groupId>g</groupId><artifactId>a</artifactId><version>1</version></extension></extensions>\n',
        },
      },
      spec: noNew,
      expect: [{ path: '.mvn/extensions.xml' }],
    },
    {
      name: 'a gem whose source is on the next line',
      files: { Gemfile: { base: "gem 'a'\n", candidate: "gem 'a',\n  git: 'https://evil.example/a'\n" } },
      spec: noNew,
      expect: [{ severity: 'note' }, { path: 'Gemfile', line: 1 }],
    },
    {
      name: 'a rejected one',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: reviewed,
      ...atRelease,
      approvals: [approval('reject')],
    },
    {
      name: 'a reviewed one without its report',
      files: project(withB, locked('b', registryEntry('b', '2.0.0'))),
      spec: reviewed,
      stage: atRelease.stage,
      approvals: [approval('approve')],
    },
    {
      name: 'a manifest that its lockfile does not follow',
      files: {
        'package.json': { base: manifest(old), candidate: manifest({ dependencies: { a: '^2.0.0' } }) },
        'package-lock.json': { base: lockfile(old, oldLock), candidate: lockfile(old, oldLock) },
      },
      spec: noNew,
      expect: [
        {
          path: 'package.json',
          line: 5,
          detail: {
            code: 'LOCKFILE_BEHIND',
            name: 'a',
            expected: '^2.0.0',
            found: '^1.0.0',
            lockfile: 'package-lock.json',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a lockfile that is gone',
      files: {
        'package.json': { base: manifest(old), candidate: manifest(old) },
        'package-lock.json': { base: lockfile(old, oldLock) },
      },
      spec: noNew,
      expect: [{ path: 'package-lock.json', detail: { code: 'LOCKFILE_LOST', policy: 'no-new' } }],
    },
    {
      name: 'a lockfile in a binary form',
      files: { 'bun.lockb': { base: 'a\n', candidate: 'b\n' } },
      spec: noNew,
      expect: [{ path: 'bun.lockb' }],
    },
    ...ecosystems.map(({ name, path, base, candidate, finds }) => ({
      name: `${name}: ${finds.name}`,
      files: { [path]: { base, candidate } },
      spec: noNew,
      expect: [{ rule: 'new-dependency', path, severity: 'error' as const, line: finds.line }],
    })),
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
            ecosystem: 'npm',
            name: 'b',
            relation: 'direct',
            field: 'dependencies',
            requirement: '^2.0.0',
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
            ecosystem: 'npm',
            name: 'c',
            version: '1.0.0',
            relation: 'transitive',
            through: ['a'],
            source: 'registry',
            policy: 'no-new',
          },
        },
      ],
    },
    {
      name: 'a package in the lockfile that nothing requires',
      files: project(old, locked('c', registryEntry('c', '1.0.0'))),
      spec: noNew,
      expect: [
        {
          detail: {
            ecosystem: 'npm',
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
            ecosystem: 'npm',
            name: 'evil',
            version: '1.0.0',
            relation: 'direct',
            field: 'dependencies',
            requirement: 'npm:evil@1.0.0',
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
      name: 'a git dependency in both files is reported once',
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
            ecosystem: 'npm',
            name: 'b',
            version: '1.0.0',
            relation: 'transitive',
            through: ['a'],
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
      expect: [
        {
          detail: {
            ecosystem: 'npm',
            name: 'a',
            version: '1.0.0',
            relation: 'moved',
            source: 'registry',
            origin: 'https://evil.example',
            policy: 'no-new',
          },
        },
      ],
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
            ecosystem: 'npm',
            name: '__proto__',
            relation: 'direct',
            field: 'dependencies',
            requirement: '1',
            source: 'registry',
            policy: 'no-new',
          },
        },
        { path: 'package.json' },
      ],
    },
    ...['GIT+HTTPS://evil.example/a.git', 'GitHub:evil/a', 'FILE:../../a'].map((spelling) => ({
      name: `a known name from elsewhere, spelt ${spelling}`,
      files: project({ dependencies: { a: spelling } }, oldLock),
      spec: noNew,
    })),
    {
      name: 'a lockfile without a registry, then with another registry for a known package',
      files: {
        'pnpm-lock.yaml': {
          base: "lockfileVersion: '9.0'\n\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: x}\n",
          candidate:
            "lockfileVersion: '9.0'\n\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: y, tarball: https://evil.example/a/-/a-1.0.0.tgz}\n",
        },
      },
      spec: noNew,
      expect: [{ path: 'pnpm-lock.yaml', line: 5 }],
    },
    ...Object.entries({
      'settings.gradle': "plugins { id 'com.evil' version '1' }\n",
      'deps.gradle.kts': 'dependencies { implementation("e:evil:1") }\n',
      'gemfiles/x.gemfile': "gem 'evil'\n",
      'Gemfile.local': "gem 'evil'\n",
      'w/package.json5': '{ dependencies: { evil: "1" } }\n',
      'w/package.yaml': 'dependencies:\n  evil: 1\n',
      'pylock.dev.toml': 'lock-version = "1.0"\n',
    }).map(([path, candidate]) => ({
      name: `dependencies named in ${path}`,
      files: { [path]: { candidate } },
      spec: noNew,
    })),
    {
      name: 'a lockfile of another ecosystem',
      files: { 'go.mod': { base: 'module x\n', candidate: 'module x\nrequire y v1\n' } },
      spec: noNew,
      expect: [{ path: 'go.mod' }],
    },
  ],
});
