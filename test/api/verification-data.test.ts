import t from 'tap';
import { verificationRefusal } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import type { VerifyCheck } from '../../attest/verify/report.ts';

const refusalOf = (...checks: readonly VerifyCheck[]) =>
  verificationRefusal([
    { target: 'HEAD', report: { verified: false, checks, expected: checks.length, ran: checks.length } },
  ] as unknown as VerifiedTarget[]);

t.test('a missing patch comes with a hint to run `writ fetch`', async (t) => {
  const missing = { id: 'subject-patchset', status: 'missing', code: 'missing' } as const;
  t.match(refusalOf(missing), { code: 'VERIFY_NOTHING', hints: [/writ fetch/] });
  const failed = { id: 'subject-patchset', status: 'failed', code: 'mismatch' } as const;
  t.match(refusalOf(failed), { code: 'VERIFY_REFUTED', hints: { length: 0 } }, 'another one is not brought');
});

t.test(
  'a repository in another spelling than the certificate’s is refused with the exact form',
  async (t) => {
    const found = 'https://github.com/Example/app';
    const hintsFor = (expected: string) =>
      refusalOf({
        id: 'source-repository',
        status: 'failed',
        code: 'mismatch',
        detail: { expected, found },
      })?.hints;
    for (const given of [
      'https://github.com/Example/app/',
      'https://github.com/Example/app.git',
      'https://GitHub.com/example/app',
      'http://github.com/Example/app',
      'git+https://github.com/Example/app.git',
      'git@github.com:Example/app.git',
      'github.com:Example/app',
      'ssh://git@github.com/Example/app.git',
      'ssh://git@github.com:22/Example/app',
    ])
      t.match(
        hintsFor(given),
        [/give exactly that: `--source-repository https:\/\/github\.com\/Example\/app`/],
        given,
      );
    for (const given of [
      'https://github.com/Example/app2',
      'https://github.com.evil.example/Example/app',
      'https://evil.example/github.com/Example/app',
      'https://github.com/Other/app',
      'app',
      '',
    ])
      t.same(hintsFor(given), [], given);
  },
);

t.test('a signature that names no key gets a hint without an empty key id', async (t) => {
  const hintFor = (key_id: string) =>
    refusalOf({ id: 'signature', status: 'unverified', code: 'untrusted-signer', detail: { key_id } })
      ?.hints[0];
  t.match(hintFor('a1'), / `--key FILE` \(key id a1\)$/);
  t.match(hintFor(''), / `--key FILE`\. The signature names no key$/);
});
