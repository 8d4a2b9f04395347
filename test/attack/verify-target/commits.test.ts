import { createPublicKey } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import t from 'tap';
import { bundleBy, signerKey, statement } from '../../attest/verify/strangers.ts';
import { sealedPlace } from './place.ts';

t.setTimeout(120_000);

const { sample, commit, base, runId, verify } = await sealedPlace();
t.teardown(() => sample.remove());
const at = (name: string) => join(sample.home, name);
const bundleAbout = (name: string, id: string): string => {
  const subject = [{ name: 'commit', digest: { gitCommit: id } }];
  writeFileSync(at(name), JSON.stringify(bundleBy(statement({ subject }))));
  return at(name);
};
writeFileSync(at('key.pem'), createPublicKey(signerKey).export({ format: 'pem', type: 'spki' }));
const key = ['--key', at('key.pem')];
const ofHead = bundleAbout('head.json', commit);
const ofParent = bundleAbout('parent.json', base);

t.test('a bundle about a commit must be about the commit asked for', async (t) => {
  t.equal(sample.git('rev-parse', 'HEAD'), commit, 'the sealed commit is checked out');
  t.equal((await verify(ofHead, ...key)).code, 0);
  t.match(await verify(ofParent, ...key), {
    code: 3,
    error: { details: { check: 'subject', expected: /--subject-commit/ } },
  });
  for (const name of [base, 'HEAD~1']) {
    t.equal((await verify(ofParent, ...key, '--subject-commit', name)).code, 0, name);
    t.match(await verify(ofHead, ...key, '--subject-commit', name), {
      code: 1,
      error: { details: { check: 'subject', code: 'wrong-subject' } },
    });
  }
  t.match(await verify(ofHead, ...key, '--subject-commit', 'none'), {
    code: 128,
    error: { code: 'REF_NOT_FOUND' },
  });
  t.equal(
    (await verify(ofHead, ...key, '--subject-commit', '1'.repeat(40))).code,
    1,
    'a commit that is not here',
  );
});

t.test('a file beside a commit must be about that commit', async (t) => {
  // Their own signer is found among the keys of this machine; the stranger's key is pinned beside it.
  const keys = await signers();
  t.equal((await verify('HEAD', ofHead, ...keys)).code, 0);
  const refused = await verify('HEAD', ofParent, ...keys);
  t.match(refused, { code: 1, error: { details: { check: 'subject', code: 'wrong-subject' } } });
  t.same(
    refused.data.targets.map(({ verified }: { verified: boolean }) => verified),
    [true, false],
  );
  t.equal((await verify(ofParent, 'HEAD', ...keys)).code, 1, 'in any order');
  t.equal((await verify(runId, '--subject-commit', commit)).code, 0);
  t.match(await verify(runId, '--subject-commit', base), {
    code: 1,
    error: { details: { check: 'asked-commit', code: 'wrong-subject' } },
  });
});

/** The keys of this machine and the stranger's. */
async function signers(): Promise<readonly string[]> {
  const { readdirSync } = await import('node:fs');
  const directory = join(sample.home, '.config', 'writ', 'keys');
  const own = readdirSync(directory).filter((name) => /^signing-.*\.pub\.pem$/.test(name));
  return [...key, ...own.flatMap((name) => ['--key', join(directory, name)])];
}

t.test('a range has one verdict for each commit and one in total', async (t) => {
  const { git } = sample;
  const good = await verify(`${base}..HEAD`);
  t.match(good, {
    code: 0,
    data: { verified: true, ranges: [{ commits: 1, verified_commits: 1, verified: true }] },
  });
  t.same(
    good.data.targets.map(({ target }: { target: string }) => target),
    [commit],
  );
  const tip = git('rev-parse', 'HEAD');
  const unsealed = git('commit-tree', '-p', tip, '-m', 'unsealed', `${tip}^{tree}`);
  const mixed = await verify(`${base}..${unsealed}`);
  t.match(mixed, { code: 3, data: { ranges: [{ commits: 2, verified_commits: 1, verified: false }] } });
  t.same(
    mixed.data.targets.map(({ target, verified }: { target: string; verified: boolean }) => [
      target,
      verified,
    ]),
    [
      [commit, true],
      [unsealed, false],
    ],
    'parents first',
  );
  t.equal((await verify(`${base}..`)).code, 0, 'HEAD is the other end');
  t.equal((await verify(`${base}..`, '--subject-commit', 'HEAD')).code, 0, 'one commit, which is the one');
  t.match(await verify(`${base}..`, '--subject-commit', base), {
    code: 1,
    data: { ranges: [{ commits: 1, verified_commits: 0, verified: false }] },
    error: { details: { check: 'asked-commit', code: 'wrong-subject' } },
  });
  // Without the demand the other commit is missing evidence, not refuted.
  t.match(await verify(`${base}..${unsealed}`, '--subject-commit', commit), {
    code: 1,
    data: { ranges: [{ commits: 2, verified_commits: 1, verified: false }] },
  });
  t.match(await verify(`HEAD..${base}`), {
    code: 3,
    data: { verified: false },
    error: { message: /holds no commit/ },
  });
  t.match(await verify(`${base}...HEAD`), { code: 129, error: { code: 'USAGE', hints: [/A\.\.B/] } });
  t.match(await verify('none..HEAD'), { code: 128, error: { code: 'REF_NOT_FOUND' } });
});

t.test('a range hides no commit behind a forged or missing history', async (t) => {
  const { git, root } = sample;
  const tree = git('rev-parse', 'HEAD^{tree}');
  const side = git('commit-tree', '-p', base, '-m', 'side', tree);
  const merge = git('commit-tree', '-p', commit, '-p', side, '-m', 'merge', tree);
  const all = await verify(`${base}..${merge}`);
  t.same(
    new Set(all.data.targets.map(({ target }: { target: string }) => target)),
    new Set([commit, side, merge]),
  );
  // In a shallow clone another ref may have brought the parent of the cut; it is looked at all the same.
  writeFileSync(join(root, '.git/shallow'), `${merge}\n`);
  t.match(await verify(`${base}..${merge}`), { code: 3, data: { ranges: [{ commits: 3 }] } });
  rmSync(join(root, '.git/shallow'));
  // A commit `start` whose file says that it holds `side`.
  const start = git('commit-tree', '-p', base, '-m', 'start', tree);
  const tip = git('commit-tree', '-p', side, '-m', 'tip', tree);
  const forged = Buffer.from(git('cat-file', 'commit', start).replace(base, side));
  const path = join(root, '.git/objects', start.slice(0, 2), start.slice(2));
  rmSync(path);
  writeFileSync(
    path,
    deflateSync(Buffer.concat([Buffer.from(`commit ${forged.length + 1}\0`), forged, Buffer.from('\n')])),
  );
  t.match(await verify(`${start}..${tip}`), {
    code: 1,
    error: { details: { check: 'range', code: 'mismatch' } },
  });
});

t.test('`--artifact` accepts what `git archive` makes of the sealed commit', async (t) => {
  const { git } = sample;
  const makeArchive = (name: string, of: string, ...options: readonly string[]): string => {
    git('archive', ...options, '-o', at(name), of);
    return at(name);
  };
  const found = await verify(
    'HEAD',
    '--artifact',
    makeArchive('release.tar.gz', 'HEAD', '--prefix=app-1.0/'),
  );
  t.equal(found.code, 0);
  t.match(found.data.checks.at(-1), {
    id: /^artifact:/,
    status: 'passed',
    detail: { archive_of: 'the sealed tree', prefix: 'app-1.0/' },
  });
  t.equal((await verify('HEAD', '--artifact', makeArchive('release.tar', 'HEAD'))).code, 0);
  t.match(await verify('HEAD', '--artifact', makeArchive('parent.tgz', base)), {
    code: 1,
    error: { details: { code: 'wrong-subject' }, hints: [/git archive.*its \d+ files are not those/] },
  });
  writeFileSync(at('other.txt'), 'other\n');
  t.match(await verify('HEAD', '--artifact', at('other.txt')), {
    code: 1,
    error: { hints: [/`git archive`/] },
  });
  const zip = await verify('HEAD', '--artifact', makeArchive('release.zip', 'HEAD'));
  t.match(zip, {
    code: 3,
    error: { details: { code: 'unsupported' }, hints: [/as tar or tar\.gz/] },
  });
  const check = zip.data.checks.find(({ id }: { id: string }) => id.startsWith('artifact:'));
  t.match(check, { status: 'unverified', detail: { found: 'a zip archive' } });
  t.equal(zip.data.ran, zip.data.expected - 1);
  t.match(await verify('HEAD', '--artifact', at('release.tar'), '--key', at('key.pem')), {
    code: 3,
    error: { details: { code: 'untrusted-signer' } },
  });
});
