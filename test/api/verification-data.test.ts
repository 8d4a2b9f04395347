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
