import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compareRoots } from '../../../attest/public/compare-roots.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { commands } from '../../../bin/command-table.ts';
import { edited, makeFoundry } from '../../attest/material/foundry.ts';
import type { Loose } from '../../attest/verify/strangers.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const { root, rekor2 } = await makeFoundry();
const { root: strange } = await makeFoundry();
const text = (value: Loose): string => `${JSON.stringify(value)}\n`;
const newer = edited(root, (r) => {
  r.tlogs[0].publicKey.validFor = { ...r.tlogs[0].publicKey.validFor, end: '2026-01-01T00:00:00Z' };
  r.tlogs.push({
    ...rekor2,
    publicKey: { ...rekor2.publicKey, validFor: { start: '2025-12-01T00:00:00Z' } },
  });
});

async function update(cwd: string, more: readonly string[] = [], stdin?: string) {
  const line = ['--json', 'trust', 'update', stdin === undefined ? 'new.json' : '-', '--root', 'root.json'];
  const { code, out } = await runLine([...line, ...more], commands, {
    cwd,
    env: { HOME: cwd },
    ...(stdin === undefined ? {} : { stdin }),
  });
  const { data, error } = JSON.parse(out);
  if (data) t.strictSame(faultsOf('trust update', data), []);
  return { code, data, error };
}

t.test('trust update replaces a root and shows what was added, ended and kept', async (t) => {
  const cwd = t.testdir({ 'root.json': text(root), 'new.json': text(newer) });
  chmodSync(join(cwd, 'root.json'), 0o640);
  const dry = await update(cwd, ['--dry-run']);
  t.equal(dry.code, 0);
  t.equal(dry.data.written, false);
  t.equal(readFileSync(join(cwd, 'root.json'), 'utf8'), text(root), 'a dry run writes nothing');
  const { code, data } = await update(cwd);
  t.equal(code, 0);
  t.strictSame(
    data.services.map(({ change, kind }: Loose) => `${change} ${kind}`),
    [
      'kept certificate-authority',
      'kept certificate-log',
      'ended transparency-log',
      'added transparency-log',
      'kept time-stamp-authority',
    ],
  );
  t.match(data.services[2], {
    name: 'https://rekor.example.org',
    valid_until: '2026-01-01T00:00:00.000Z',
    before: { valid_from: '2020-01-01T00:00:00.000Z', valid_until: undefined },
  });
  t.match(data.newest, {
    kind: 'transparency-log',
    name: rekor2.baseUrl,
    valid_from: '2025-12-01T00:00:00.000Z',
  });
  t.ok(data.newest.age_days >= 0);
  t.equal(data.written, true);
  t.equal(readFileSync(join(cwd, 'root.json'), 'utf8'), text(newer));
  t.equal(statSync(join(cwd, 'root.json')).mode & 0o777, 0o640, 'the mode is kept');
  t.strictSame(readdirSync(cwd).sort(), ['new.json', 'root.json'], 'no draft is left');
  const again = await update(cwd);
  t.equal(again.code, 0);
  t.equal(again.data.written, false);
  t.equal(again.data.before, again.data.after);
});

t.test('trust update shows another chain of an authority, and warns of a root that has ended', async (t) => {
  const [tsa] = root.timestampAuthorities;
  const longer = edited(root, (r) => {
    r.timestampAuthorities[0].certChain.certificates.push(
      r.certificateAuthorities[0].certChain.certificates[0],
    );
  });
  const chainOf = (one: Loose): string => {
    const hash = createHash('sha256');
    for (const { rawBytes } of one.certChain.certificates) hash.update(Buffer.from(rawBytes, 'base64'));
    return hash.digest('hex');
  };
  const cwd = t.testdir({ 'root.json': text(root), 'new.json': text(longer) });
  const line = ['trust', 'update', 'new.json', '--root', 'root.json', '--dry-run'];
  const shown = async () => (await runLine(line, commands, { cwd })).out;
  const { data } = await update(cwd, ['--dry-run']);
  const [is, was] = [longer.timestampAuthorities[0], tsa].map(chainOf) as [string, string];
  t.match(data.services[3], { change: 'changed', chain_sha256: is, before: { chain_sha256: was } });
  t.match(data.services[3].name, /.+, issued by .+/, 'every certificate of the chain is named');
  t.strictSame(data.ended, []);
  t.match(await shown(), new RegExp(`chain ${is.slice(0, 16)} was ${was.slice(0, 16)}`));
  const over = edited(root, (r) => {
    r.tlogs[0].publicKey.validFor = { ...r.tlogs[0].publicKey.validFor, end: '2021-01-01T00:00:00Z' };
  });
  writeFileSync(join(cwd, 'new.json'), text(over));
  t.strictSame((await update(cwd, ['--dry-run'])).data.ended, ['transparency-log']);
  t.match(await shown(), /warning: every transparency-log of the root has ended/);
  const year = new Date().getUTCFullYear() + 3;
  const early = edited(root, (r) => {
    r.tlogs[0].publicKey.validFor = { start: `${year}-01-01T00:00:00Z` };
  });
  writeFileSync(join(cwd, 'new.json'), text(early));
  t.match(await shown(), /newest: transparency-log .*, begins in [1-9]\d{2,3} days/);
});

t.test('trust update reads stdin, creates a missing root and writes through a symlink', async (t) => {
  const cwd = t.testdir({ kept: {} });
  symlinkSync('kept/trusted.json', join(cwd, 'root.json'));
  writeFileSync(join(cwd, 'kept/trusted.json'), text(root));
  t.equal((await update(cwd, [], text(newer))).code, 0);
  t.ok(lstatSync(join(cwd, 'root.json')).isSymbolicLink());
  t.equal(readFileSync(join(cwd, 'kept/trusted.json'), 'utf8'), text(newer));
  const empty = t.testdir({ 'new.json': text(root) });
  const { code, data } = await update(empty);
  t.equal(code, 0);
  t.equal(data.before, null);
  t.ok(data.services.every(({ change }: Loose) => change === 'added'));
  t.equal(readFileSync(join(empty, 'root.json'), 'utf8'), text(root));
});

t.test('trust update leaves a read-only root as it is, also behind a link', async (t) => {
  const cwd = t.testdir({ 'root.json': text(root), 'new.json': text(newer) });
  chmodSync(join(cwd, 'root.json'), 0o444);
  symlinkSync('root.json', join(cwd, 'link.json'));
  for (const name of ['root.json', 'link.json']) {
    const { code, out } = await runLine(['trust', 'update', 'new.json', '--root', name, '--json'], commands, {
      cwd,
    });
    t.match([code, JSON.parse(out)], [128, { error: { code: 'OUTPUT_FAILED', message: /read-only/ } }], name);
  }
  t.equal(readFileSync(join(cwd, 'root.json'), 'utf8'), text(root));
});

t.test('trust update says in words why it cannot write the root', async (t) => {
  const cwd = t.testdir({ 'new.json': text(root), plain: '' });
  const line = ['--json', 'trust', 'update', 'new.json', '--root'];
  const said = async (place: string) =>
    JSON.parse((await runLine([...line, place], commands, { cwd })).out).error;
  t.match(await said('plain/root.json'), {
    code: 'OUTPUT_FAILED',
    message: '`plain/root.json` cannot be written: `plain` is no directory',
    hints: ['name a file in a directory'],
  });
  t.match(await said('absent/root.json'), {
    code: 'OUTPUT_FAILED',
    message: '`absent/root.json` cannot be written: there is no directory `absent`',
    hints: ['make it: `mkdir -p absent`'],
  });
  t.match(await said('.'), { code: 'INPUT_UNREADABLE', message: 'it is a directory' });
});

t.test(
  'trust update refuses garbage and a root that loses a kind of service, and keeps the file',
  async (t) => {
    const lossy: Record<string, Loose> = {
      'another root': strange,
      'no transparency log': edited(root, (r) => (r.tlogs = [])),
      'other certificate authorities': edited(root, (r) => {
        r.certificateAuthorities = strange.certificateAuthorities;
      }),
    };
    for (const [name, value] of Object.entries(lossy)) {
      const cwd = t.testdir({ 'root.json': text(root), 'new.json': text(value) });
      const { code, data, error } = await update(cwd);
      t.equal(code, 1, name);
      t.equal(error.code, 'TRUST_LOST', name);
      t.ok(
        data.services.some(({ change }: Loose) => change === 'removed'),
        name,
      );
      t.equal(readFileSync(join(cwd, 'root.json'), 'utf8'), text(root), name);
    }
    const garbage: Record<string, string> = {
      nothing: '',
      'no JSON': 'x',
      'an empty object': '{}',
      'a root without services': text({ mediaType: root.mediaType }),
      'a log without a start': text(edited(root, (r) => delete r.tlogs[0].publicKey.validFor.start)),
    };
    for (const [name, value] of Object.entries(garbage)) {
      const cwd = t.testdir({ 'root.json': text(root), 'new.json': value });
      const { code, error } = await update(cwd);
      t.equal(code, 129, name);
      t.equal(error.code, 'ANCHOR_UNUSABLE', name);
      t.equal(readFileSync(join(cwd, 'root.json'), 'utf8'), text(root), name);
    }
    const cwd = t.testdir({ 'root.json': 'x', 'new.json': text(root) });
    t.equal((await update(cwd)).error.code, 'ANCHOR_UNUSABLE', 'a kept root that cannot be read');
  },
);

t.test(
  'compareRoots pairs periods of one log, and reports changed chains and earlier or later ends',
  async (t) => {
    const read = (value: Loose) => parseTrustedRoot(Buffer.from(text(value))).root;
    const changes = (before: Loose, after: Loose) =>
      compareRoots(read(before), read(after), 0).services.map(({ change }) => change);
    const periods = (...ends: (string | undefined)[]) =>
      edited(root, (r) => {
        r.certificateAuthorities = [];
        r.ctlogs = [];
        r.timestampAuthorities = [];
        r.tlogs = ends.map((end) =>
          edited(r.tlogs[0], (log) => Object.assign(log.publicKey.validFor, { end })),
        );
      });
    const [early, late] = ['2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'];
    t.strictSame(changes(periods(early), periods(late)), ['extended']);
    t.strictSame(changes(periods(late), periods(early)), ['ended']);
    t.strictSame(changes(periods(early), periods(undefined)), ['extended']);
    t.strictSame(changes(periods(early, late), periods(early, late)), ['kept', 'kept']);
    t.strictSame(changes(periods(early), periods(early, late)), ['kept', 'added']);
    t.strictSame(changes(periods(early, late), periods(early)), ['kept', 'removed']);
    t.strictSame(
      changes(periods(early, late), periods(late)),
      ['kept', 'removed'],
      'equal periods are paired',
    );
    t.strictSame(changes(periods(early, late), periods(undefined, late)), ['extended', 'kept']);
    t.strictSame(changes(periods(early, early), periods(early)), ['kept'], 'a repeated entry counts once');
    t.strictSame(changes(periods(early), periods(early, early)), ['kept']);
    const shorter = edited(root, (r) => r.timestampAuthorities[0].certChain.certificates.pop());
    t.strictSame(changes(root, shorter), ['kept', 'kept', 'kept', 'changed']);
    const moved = edited(root, (r) => (r.tlogs[0].baseUrl = 'https://other.example.org'));
    t.strictSame(changes(root, moved), ['kept', 'kept', 'changed', 'kept']);
  },
);
