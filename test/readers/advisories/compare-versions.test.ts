import t from 'tap';
import { compareNumbers } from '../../../readers/advisories/number-order.ts';
import { versionOrder } from '../../../readers/advisories/scan-packages.ts';
import type { Ecosystem } from '../../../readers/packages/apply-manifests.ts';

/** Ascending, as the specifications and reference implementations give them. */
const ascending: readonly (readonly [source: string, Ecosystem, readonly string[]])[] = [
  [
    'Semantic Versioning 2.0.0, 11',
    'npm',
    '1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 2.0.0 2.1.0 2.1.1'.split(
      ' ',
    ),
  ],
  ['numbers beyond a double', 'cargo', ['1.0.0', '1.0.9007199254740993', '1.0.9007199254740994', '10.0.0']],
  [
    'Go modules reference, pseudo-versions',
    'go',
    'v0.0.0-20190101000000-abcdefabcdef v0.0.0-20200101000000-aaaaaaaaaaaa v0.1.0 v1.2.3-pre v1.2.3-pre.0.20191109021931-daa7c04131f5 v1.2.3 v1.2.4-0.20191109021931-daa7c04131f5 v1.2.4 v2.0.0+incompatible'.split(
      ' ',
    ),
  ],
  [
    'PEP 440, summary of permitted suffixes',
    'pypi',
    '1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0b2.post345.dev456 1.0b2.post345 1.0rc1.dev456 1.0rc1 1.0 1.0+abc.5 1.0+abc.7 1.0+5 1.0.post456.dev34 1.0.post456 1.0.15 1.1.dev1 1!0.1'.split(
      ' ',
    ),
  ],
  [
    'Maven ComparableVersion, qualifiers',
    'maven',
    '1-alpha2snapshot 1-alpha2 1-alpha-123 1-beta-2 1-beta123 1-m2 1-m11 1-rc 1-cr2 1-rc123 1-SNAPSHOT 1 1-sp 1-sp2 1-sp123 1-abc 1-def 1-pom-1 1-1-snapshot 1-1 1-2 1-123'.split(
      ' ',
    ),
  ],
  [
    'Maven ComparableVersion, numbers',
    'maven',
    '2.0 2.0.a 2-1 2.0.2 2.0.123 2.1.0 2.1-a 2.1b 2.1-c 2.1-1 2.1.0.1 2.2 2.123 11.a2 11.a11 11.b2 11.b11 11.m2 11.m11 11 11.a 11b 11c 11m'.split(
      ' ',
    ),
  ],
  ['Maven MNG-5568', 'maven', ['6.1.0rc3', '6.1.0', '6.1H.5-beta']],
  [
    'Maven MNG-6572',
    'maven',
    ['20190126.230843', '1234567890.12345', '123456789012345.1H.5-beta', '12345678901234567890.1H.5-beta'],
  ],
  ['Maven MNG-6964', 'maven', ['1-0.alpha', '1-0.beta', '1']],
  ['Maven, a dot before a word', 'maven', ['1.0.RC2', '1.0-RC3', '1.0.1']],
  ['Gem::Version', 'rubygems', '0.0.beta 1.8.2.a 1.8.2.a9 1.8.2.a10 1.8.2.b 1.8.2 1.8.2.1 1.9'.split(' ')],
  [
    'Composer and version_compare',
    'packagist',
    '1.0.0-dev 1.0.0-alpha1 1.0.0-alpha2 1.0.0-beta 1.0.0-RC1 1.0.0 1.0.0-p1 1.0.0.1 1.0.1 1.2 1.10 2010.01.02'.split(
      ' ',
    ),
  ],
];

const equal: readonly (readonly [Ecosystem, readonly string[]])[] = [
  ['npm', ['1.2.3', 'v1.2.3', '1.2.3+build.5', '1.2.3+other']],
  ['pypi', ['1.1RC1', '1.1rc1', 'v1.1.rc.1', '1.1-c1', '1.1.0-preview_1']],
  ['pypi', ['1.2.post2', '1.2-2', '1.2.rev2', '1.2-r.2', '1.2.0.POST2']],
  ['pypi', ['1.0', '1', '1.0.0', '01.0']],
  ['maven', ['1', '1.0', '1.0.0', '1-0', '1.0-0', '1ga', '1-RELEASE', '1Final', '0001']],
  ['maven', ['1a', '1-a', '1.0-a', '1.0.0-a', '1.0a', '1.0.0a']],
  ['maven', ['1a1', '1-alpha-1', '1-ALPHA-1']],
  ['maven', ['1m3', '1-milestone-3', '1MileStone3']],
  ['rubygems', ['1', '1.0', '1.0.0']],
  ['packagist', ['v1.2.0', '1.2', '1.2.0.0', '1.2.0-stable', '1.2.0+build']],
];

t.test('versions sort in the order of their ecosystem', async (t) => {
  for (const [source, ecosystem, versions] of ascending) {
    const order = versionOrder(ecosystem);
    for (const [i, low] of versions.entries())
      for (const [j, high] of versions.entries())
        t.equal(Math.sign(order(low, high) ?? Number.NaN), Math.sign(i - j), `${source}: ${low} and ${high}`);
  }
  for (const [ecosystem, versions] of equal)
    for (const one of versions)
      for (const other of versions)
        t.equal(versionOrder(ecosystem)(one, other), 0, `${ecosystem}: ${one} is ${other}`);
});

t.test('does not compare text that is not a version of the ecosystem', async (t) => {
  const cases: readonly (readonly [Ecosystem, readonly string[]])[] = [
    ['npm', ['', 'latest', '^1.0.0', '1.x', '1.2.3.4', 'git+https://x', '1.0.0-', 'a'.repeat(300)]],
    ['pypi', ['', '1.0-what', '1..0', '==1.0', 'main']],
    ['rubygems', ['', 'a.1', '1.0.0-x86_64', '1,0']],
    ['packagist', ['', 'dev-main', '1.x-dev', 'abc']],
    ['maven', ['', `1${'-1'.repeat(100)}`, '1'.repeat(257)]],
  ];
  for (const [ecosystem, texts] of cases)
    for (const text of texts) {
      t.equal(versionOrder(ecosystem)(text, '1.0.0'), undefined, `${ecosystem}: ${text.slice(0, 20)}`);
      t.equal(versionOrder(ecosystem)('1.0.0', text), undefined);
    }
});

t.test('compares numeric versions with missing numbers as 0, up to a given length', async (t) => {
  const signs = [
    [
      [1, 10],
      [1, 9],
    ],
    [[2], [1, 9, 9]],
    [[1, 0], [1]],
    [[1, 0, 1], [1]],
  ].map(([left = [], right = []]) => [
    Math.sign(compareNumbers(left, right)),
    Math.sign(compareNumbers(right, left)),
  ]);
  t.strictSame(signs, [
    [1, -1],
    [1, -1],
    [0, 0],
    [1, -1],
  ]);
  t.equal(compareNumbers([1, 2, 3], [1, 2, 9], 2), 0);
  t.equal(compareNumbers([1, 2, 3], [9], 0), 0);
});
