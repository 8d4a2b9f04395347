import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CheckOutcome } from '../../../../core/interfaces/check.ts';
import {
  type CheckFootprint,
  openKeptFootprints,
  toCheckFootprint,
} from '../../../../engine/evaluate/observe/footprint-key.ts';
import { changesOutcome, findFills } from '../../../../engine/evaluate/observe/observe-checks.ts';
import { notReached } from '../../../../engine/evaluate/observe/trace-check.ts';
import { readTrace } from '../../../../engine/evaluate/observe/under-tracer.ts';
import { openVouchedCache } from '../../../../engine/evaluate/workspace-dependencies/shared-directory.ts';
import { voucherUnder } from '../../../../store/journal-witness.ts';

function makePlace(t: { teardown(act: () => void): void }): string {
  const place = mkdtempSync(join(tmpdir(), 'writ-footprint-'));
  t.teardown(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

const outcome = (exitCode: number, output = '', more: Partial<CheckOutcome> = {}): CheckOutcome =>
  ({
    findings: [],
    reports: [],
    result: { exitCode, timedOut: false, combined: { bytes: Buffer.from(output) } },
    ...more,
  }) as unknown as CheckOutcome;

t.test('a trace beyond its bounds, and an empty one, give a reason instead of a footprint', async (t) => {
  const path = join(makePlace(t), 'calls');
  t.match(await readTrace(path, '/w'), { reason: 'there is no trace' });
  const line = (name: string) => `1 stat("${name}", 0x7f) = -1 ENOENT (No such file or directory)\n`;
  writeFileSync(path, line('a') + line('b'));
  t.match(await readTrace(path, '/w'), { footprint: { missing: ['/w/a', '/w/b'] } });
  t.match(await readTrace(path, '/w', { maxBytes: 100 }), { reason: 'its trace is larger than 100 bytes' });
  t.match(await readTrace(path, '/w', { maxPaths: 1 }), { reason: /more paths than a footprint holds/ });
});

t.test('a traced run counts only if it reached what it is for', (t) => {
  const command = { kind: 'command', expectedExitCode: 0 } as const;
  const suite = { kind: 'testSuite', expectedExitCode: 0 } as const;
  const tests = (passed: number, failed: number, skipped: number) => ({ tests: { passed, failed, skipped } });
  t.equal(notReached(command, outcome(0)), undefined);
  t.equal(notReached(command, outcome(2)), 'its command ended with exit code 2, expected 0');
  t.equal(notReached(suite, outcome(0)), 'no test ran');
  t.equal(notReached(suite, outcome(0, '', tests(0, 0, 3))), 'no test ran');
  t.equal(notReached(suite, outcome(1, '', tests(0, 1, 0))), undefined, 'a red test ran');
  const denied = { rule: 'tool-acl', severity: 'error', message: 'it is denied' } as const;
  t.equal(notReached(suite, { findings: [denied] }), 'it is denied');
  t.end();
});

t.test('a footprint keeps paths of the workspace, and reads of files in the tree', (t) => {
  const all = ['/w/a.sh', '/w/.git/config', '/w', '/etc/passwd', '/w/new'];
  const seen = { missing: all, read: all, opened: all, listed: all, executed: all };
  t.strictSame(toCheckFootprint(seen, '/w', [{ path: 'a.sh' }]), {
    schema: 'urn:writ:footprint:v1',
    missing: ['a.sh', '', 'new'],
    listed: ['a.sh', '', 'new'],
    read: ['a.sh'],
    opened: ['a.sh'],
    executed: ['a.sh', '/etc/passwd'],
  });
  const script = ['/w/ci/a.sh'];
  const linked = { missing: ['/w/ci/b'], read: script, opened: script, listed: ['/w/ci'], executed: script };
  t.strictSame(toCheckFootprint(linked, '/w', [{ path: 'tools/a.sh' }], new Map([['ci', 'tools']])), {
    schema: 'urn:writ:footprint:v1',
    missing: ['ci/b', 'tools/b'],
    listed: ['ci', 'tools'],
    read: ['tools/a.sh'],
    opened: ['tools/a.sh'],
    executed: ['tools/a.sh'],
  });
  t.end();
});

t.test('a new path fills what a check looked for or lists and names; tests and unnamed files do not', (t) => {
  const footprint = {
    missing: ['ci/env.sh', 'src/fee', 'lib/rate/__init__.py', 'lib/tax/__init__.py', 'lib/rate.js'],
    listed: ['', 'ci'],
    read: ['lib/rate.py'],
  };
  const texts = [
    'from local_settings import ARGS\n',
    'for f in ci/*.mk; do . $f; done',
    'README.md, LICENSE',
  ];
  const fills = (...paths: string[]) =>
    findFills(paths, ['lib/rate.py', 'lib/tax.py'], footprint, texts).map(([path]) => path);
  t.strictSame(fills('ci/env.sh', 'src/fee/index.js', 'ci/local_settings.py', 'ci/x.mk'), [
    'ci/env.sh',
    'src/fee/index.js',
    'ci/local_settings.py',
    'ci/x.mk',
  ]);
  t.strictSame(
    fills(
      'src/fee/other.js',
      'ci/other.py',
      'src/x.mk',
      'ci/test_local_settings.py',
      'README.md',
      'LICENSE.txt',
    ),
    [],
  );
  t.strictSame(fills('lib/rate/__init__.py'), [], 'a module that was read has become a package');
  t.strictSame(fills('lib/tax/__init__.py', 'lib/rate.js'), ['lib/tax/__init__.py', 'lib/rate.js']);
  t.end();
});

t.test(
  'a kept footprint is found while its judges are the same and its missing paths are missing',
  async (t) => {
    const directory = join(makePlace(t), 'footprints');
    const kept = openKeptFootprints(
      openVouchedCache(directory, voucherUnder(Buffer.from('own'), 'footprint')),
    );
    const entry = (path: string, object = 'a') => ({ path, mode: '100644', object });
    const entries = [entry('ci/run.py'), entry('src/a.js')];
    const footprint: CheckFootprint = {
      schema: 'urn:writ:footprint:v1',
      missing: ['ci/local'],
      listed: [],
      read: ['ci/run.py', 'src/a.js'],
      opened: ['ci/run.py'],
      executed: [],
    };
    t.equal(await kept.find('key', entries), undefined);
    await kept.keep('key', entries, footprint);
    t.strictSame(await kept.find('key', entries), footprint);
    t.strictSame(
      await kept.find('key', [entry('ci/run.py'), entry('src/a.js', 'b')]),
      footprint,
      'the product',
    );
    t.equal(await kept.find('key', [entry('ci/run.py', 'b')]), undefined, 'a judge that was read');
    t.equal(await kept.find('key', [...entries, entry('ci/local/x.py')]), undefined, 'a path is there now');
    t.equal(await kept.find('other', entries), undefined);

    const stranger = openKeptFootprints(
      openVouchedCache(directory, voucherUnder(Buffer.from('other'), 'footprint')),
    );
    t.equal(await stranger.find('key', entries), undefined, 'what another user vouched for');
    const [name = ''] = readdirSync(directory);
    const file = join(directory, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace('ci/local', 'ci/lokal'));
    t.equal(await kept.find('key', entries), undefined, 'a changed file');
  },
);

t.test('times, addresses and what is new change no outcome; exit code and what is gone do', (t) => {
  const plain = outcome(0, 'ok 12 tests in 1.23s\nat 0x7ffe12ab34, 2026-01-02T03:04:05Z, 17 ms\n');
  const later = outcome(0, 'ok 12 tests in 4.5s\nat 0x7ffe99ab34, 2026-11-12T13:14:15Z, 170 ms\n');
  t.notOk(changesOutcome(plain, later));
  t.ok(changesOutcome(plain, outcome(0, 'ok 0 tests in 1.23s\n')));
  t.ok(changesOutcome(outcome(0), outcome(1)));
  const suite = (...names: string[]) =>
    outcome(0, String(names.length), {
      executed: { counts: { passed: 0, failed: 0, skipped: 0 }, names: new Set(names), skipped: [] },
    });
  t.notOk(changesOutcome(suite('a', 'b'), suite('b', 'a')));
  t.notOk(changesOutcome(suite('a'), suite('a', 'b')), 'a new test');
  t.ok(changesOutcome(suite('a', 'b'), suite('a', 'c')));
  t.notOk(changesOutcome(outcome(0, 'ok a\n'), outcome(0, 'ok a\n? b [no test files]\n')), 'a new package');
  t.ok(changesOutcome(outcome(0, 'ok a\nok a\n'), outcome(0, 'ok a\n')));
  const report = (text: string) => outcome(0, '', { reports: [{ name: 'r', bytes: Buffer.from(text) }] });
  t.ok(changesOutcome(report('3 passed'), report('0 passed')));
  t.end();
});
