import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { ruleOf } from './stage-case.ts';

const refuses = (code: string) => [
  { rule: 'verify-provenance', severity: 'error' as const, detail: { code } },
];

await gateTester(t, ruleOf('verify-provenance'), {
  valid: [{ name: 'a trial of the seal verified', rehearsal: { problems: [] }, expect: [] }],
  invalid: [
    { name: 'the contract requires no provenance', expect: refuses('PROVENANCE_NOT_ASKED_FOR') },
    {
      name: 'the key cannot sign',
      rehearsal: { problems: ['the provenance does not verify: the signer failed'] },
      expect: refuses('PROVENANCE_UNVERIFIABLE'),
    },
    {
      name: 'words behind the rule',
      args: ['--all'],
      rehearsal: { problems: [] },
      expect: refuses('POLICY_ARGUMENTS'),
    },
  ],
});
