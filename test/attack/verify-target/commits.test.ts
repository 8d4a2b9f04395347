import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
