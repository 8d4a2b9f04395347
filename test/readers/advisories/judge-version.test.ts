import t from 'tap';
import type { AffectedVersions, RangeEvent } from '../../../readers/advisories/advisory.ts';
import { readOsvRecord } from '../../../readers/advisories/osv-record.ts';
import { compareVersion } from '../../../readers/advisories/scan-packages.ts';
import type { Ecosystem, LockedPackage } from '../../../readers/packages/apply-manifests.ts';

function verdict(
  affected: Partial<AffectedVersions>,
  version: string,
  ecosystem: Ecosystem = 'npm',
  more: Partial<LockedPackage> = {},
): string {
  const found: LockedPackage = {
    ecosystem,
    name: 'a',
    version,
    purl: `pkg:${ecosystem}/a@${version}`,
    direct: true,
    scope: 'runtime',
    dependsOn: [],
    declaredIn: 'x',
    ...more,
  };
  return compareVersion({ affected: [{ versions: [], ranges: [], ...affected }] }, found);
}

const range = (
  type: 'SEMVER' | 'ECOSYSTEM' | 'GIT',
  ...events: readonly (readonly [RangeEvent['kind'], string])[]
) => ({
  ranges: [{ type, events: events.map(([kind, version]) => ({ kind, version })) }],
});
const [yes, no, unsure] = ['affected', 'unaffected', 'unknown'];

t.test('evaluates ranges as in the examples of the OSV schema', async (t) => {
  const semver = range(
    'SEMVER',
    ['introduced', '1.0.0'],
    ['fixed', '1.0.2'],
    ['introduced', '3.0.0'],
    ['fixed', '3.2.5'],
  );
  for (const [version, expected] of [
    ['0.9.0', no],
    ['1.0.0', yes],
    ['1.0.1', yes],
    ['1.0.2', no],
    ['2.0.0', no],
    ['3.0.0-rc.1', no],
    ['3.0.0', yes],
    ['3.2.5-rc.1', yes],
    ['3.2.5', no],
  ] as const)
    t.equal(verdict(semver, version), expected, version);
  const open = range('SEMVER', ['introduced', '0']);
  t.equal(verdict(open, '0.0.0-0'), yes, '`0` comes before everything');
  const last = range('ECOSYSTEM', ['introduced', '0'], ['last_affected', '2.1']);
  t.equal(verdict(last, '2.1.0', 'pypi'), yes);
  t.equal(verdict(last, '2.1.post1', 'pypi'), no);
  t.equal(verdict(last, '2.2', 'pypi'), no);
});

t.test('range events may be in any order', async (t) => {
  const mixed = range(
    'SEMVER',
    ['fixed', '3.2.5'],
    ['introduced', '3.0.0'],
    ['fixed', '1.0.2'],
    ['introduced', '0'],
  );
  t.strictSame(
    ['1.0.1', '1.0.2', '3.1.0', '3.2.5'].map((version) => verdict(mixed, version)),
    [yes, no, yes, no],
  );
});

t.test('a limit ends a range, while `*` does not', async (t) => {
  const limited = range('SEMVER', ['introduced', '1.0.0'], ['limit', '2.0.0']);
  t.strictSame(
    ['1.5.0', '2.0.0', '3.0.0'].map((version) => verdict(limited, version)),
    [yes, no, no],
  );
  t.equal(verdict(range('SEMVER', ['introduced', '1.0.0'], ['limit', '*']), '9.0.0'), yes);
});

t.test('listed versions are affected, whatever the ranges say', async (t) => {
  t.equal(verdict({ versions: ['1.0'], ...range('ECOSYSTEM', ['introduced', '5']) }, '1.0.0', 'pypi'), yes);
  t.equal(verdict({ versions: ['1.0.0'] }, '1.0.1'), no);
  t.equal(verdict({ versions: ['dev-main'] }, 'dev-main', 'packagist'), yes);
});

t.test('each ecosystem uses its own version order', async (t) => {
  const fixed = (version: string) => range('ECOSYSTEM', ['introduced', '0'], ['fixed', version]);
  t.equal(verdict(fixed('1.0'), '1.0-rc1', 'maven'), yes);
  t.equal(verdict(fixed('1.0'), '1.0.RELEASE', 'maven'), no);
  t.equal(verdict(fixed('1.0'), '1.0.pre1', 'rubygems'), yes);
  t.equal(verdict(fixed('1.0'), '1.0.0-RC1', 'packagist'), yes);
  t.equal(
    verdict(
      range('SEMVER', ['introduced', '0'], ['fixed', '1.2.3']),
      'v1.2.3-0.20230101000000-abcdefabcdef',
      'go',
    ),
    yes,
  );
  t.equal(verdict(range('SEMVER', ['introduced', '0'], ['fixed', '1.2.3']), 'v1.2.3+incompatible', 'go'), no);
});

t.test('a version that cannot be compared is unknown, never unaffected', async (t) => {
  const ranges = range('SEMVER', ['introduced', '1.0.0'], ['fixed', '2.0.0']);
  for (const version of ['', 'latest', 'deadbeef89012345678901234567890123456789'])
    t.equal(verdict(ranges, version), unsure, version);
  t.equal(verdict({ versions: ['1.0.0'] }, 'weird!'), unsure);
  t.equal(verdict(range('SEMVER', ['introduced', 'one']), '1.0.0'), unsure, 'the event is no version');
  t.equal(verdict({}, '1.0.0'), unsure, 'neither versions nor ranges');
  t.equal(verdict({ ...ranges, unreadable: true }, '3.0.0'), unsure);
  t.equal(verdict({ ...ranges, unreadable: true }, '1.5.0'), yes);
});

t.test('Git commits match exactly and otherwise leave a version unknown', async (t) => {
  const [bad, good, other] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [string, string, string];
  const commits = range('GIT', ['introduced', bad], ['fixed', good]);
  const at = (commit: string) => verdict(commits, commit, 'cargo', { source: 'git' });
  t.strictSame([at(bad), at(good), at(other)], [yes, no, unsure]);
  t.equal(verdict(commits, '1.0.0'), unsure, 'a release against commits alone');
  t.equal(verdict({ versions: ['1.0.0'], ...commits }, '1.0.1'), no, 'the list of versions tells');
});

t.test('reads a record, marks unreadable entries and refuses malformed records', async (t) => {
  const base = { id: 'X-1', modified: '2026-01-01T00:00:00Z' };
  const affected = (entry: object) =>
    readOsvRecord({ ...base, affected: [{ package: { ecosystem: 'npm', name: 'a' }, ...entry }] });
  t.match(affected({ ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }] }] }), {
    advisories: [{ affected: [{ ranges: [{ type: 'SEMVER' }] }] }],
  });
  for (const entry of [
    { ranges: [{ type: 'NEW', events: [{ introduced: '0' }] }] },
    { ranges: [{ type: 'SEMVER', events: [] }] },
    { ranges: [{ type: 'SEMVER', events: [{ introduced: '0', fixed: '1' }] }] },
    { ranges: [{ type: 'SEMVER', events: [{}] }] },
    { ranges: {} },
    { versions: 'all' },
    { versions: [1] },
  ])
    t.match(affected(entry), { advisories: [{ affected: [{ unreadable: true }] }] }, JSON.stringify(entry));
  for (const value of [
    null,
    [],
    7,
    {},
    { id: 'X' },
    { id: 'a b', modified: base.modified },
    { ...base, modified: 'today' },
    { ...base, withdrawn: true },
    { ...base, affected: {} },
    { ...base, affected: [7] },
    { ...base, affected: [{ package: { name: 'a\tb', ecosystem: 'npm' } }] },
  ])
    t.match(readOsvRecord(value), { fault: /./ }, JSON.stringify(value));
  t.match(
    readOsvRecord({
      ...base,
      affected: [
        { package: { ecosystem: 'Maven:https://x', name: 'g:a' } },
        { package: { ecosystem: 'Debian:13', name: 'b' } },
        { ranges: [] },
      ],
    }),
    {
      advisories: [{ ecosystem: 'maven', name: 'g:a' }],
      otherEcosystems: ['Debian', 'none'],
    },
  );
});
