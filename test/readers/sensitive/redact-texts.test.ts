import t from 'tap';
import { redactTexts } from '../../../readers/sensitive/redact.ts';
import { privacyPolicyOf } from '../../../spec/facts.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { inventedSecrets } from './secrets/invented-secrets.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const policyWith = (privacy: object) =>
  privacyPolicyOf(sampleSpecWith({ constraints: { privacy } }) as never);

t.test('redacts the strings of a finding at any depth and keeps everything else', async (t) => {
  const finding = {
    rule: 'check-outcome',
    message: `test for ann@corp.io failed with ${token}`,
    line: 3,
    detail: { test: 'of ben@corp.io', list: ['x', token], code: 'TEST_FAILED' },
  };
  const { remove, words } = policyWith({ dataClassesAllowed: ['public'], redactionRequired: true });
  t.strictSame(redactTexts(finding, { remove, words }), {
    rule: 'check-outcome',
    message: 'test for [redacted:pii:email] failed with [redacted:secrets:github-token]',
    line: 3,
    detail: {
      test: 'of [redacted:pii:email]',
      list: ['x', '[redacted:secrets:github-token]'],
      code: 'TEST_FAILED',
    },
  });
});

t.test('removes every class that is not allowed, or only secrets without redaction', async (t) => {
  t.same(policyWith({ dataClassesAllowed: ['public'], redactionRequired: true }).remove, [
    'internal',
    'confidential',
    'pii',
    'phi',
    'secrets',
  ]);
  t.same(policyWith({ dataClassesAllowed: ['public', 'pii', 'internal'], redactionRequired: true }).remove, [
    'confidential',
    'phi',
    'secrets',
  ]);
  t.same(policyWith({ dataClassesAllowed: ['public'], redactionRequired: false }).remove, ['secrets']);
  t.same(policyWith({ dataClassesAllowed: ['public', 'secrets'], redactionRequired: false }).remove, []);
});
