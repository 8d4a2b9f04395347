import t from 'tap';
import { policyCheck, policyWords } from '../../../gates/checks/policy.ts';
import { checkContext, errorCodes, type Given, noPool } from './check-context.ts';

function ask(command: string, given: Given = {}) {
  const made = checkContext({ ...given, check: { kind: 'policy', command } });
  return { ...made, outcome: policyCheck(noPool).run(made.context) };
}

const found = { rule: 'secrets', severity: 'error', message: 'found one' } as const;

t.test('the first word names the rule and the others are its arguments', async (t) => {
  const { outcome, asked, commands } = ask(`require-approvers --min 2 --role 'release team' ""`, {
    rules: { 'require-approvers': [] },
  });
  t.strictSame((await outcome).findings, []);
  t.strictSame(asked, [{ id: 'require-approvers', args: ['--min', '2', '--role', 'release team', ''] }]);
  t.equal(commands(), 0, 'nothing was run');
});

t.test('the errors of the rule fail the check', async (t) => {
  t.strictSame((await ask('secrets', { rules: { secrets: [found] } }).outcome).findings, [found]);
});

t.test('a command whose first word is not a rule is run', async (t) => {
  const passed = ask('opa eval x');
  t.strictSame((await passed.outcome).findings, []);
  t.equal(passed.commands(), 1);
  const failed = ask('opa eval "$INPUT" | grep x', { result: { exitCode: 2 } });
  t.strictSame(errorCodes((await failed.outcome).findings), ['CHECK_EXIT_CODE']);
  t.equal(failed.commands(), 1);
});

t.test('a command that the ACL denies fails', async (t) => {
  const denied = { rule: 'acl', severity: 'error', message: 'no' } as const;
  t.strictSame((await ask('opa eval x', { denied, notRun: true }).outcome).findings, [denied]);
});

t.test('a rule name followed by shell syntax is neither evaluated nor run', async (t) => {
  for (const command of [
    'secrets; true',
    'secrets | true',
    'secrets && true',
    'secrets $X',
    'secrets "a',
    'secrets\ntrue',
    '"secrets"|true',
  ]) {
    const { outcome, commands } = ask(command, { rules: { secrets: [] } });
    t.strictSame(errorCodes((await outcome).findings), ['POLICY_ARGUMENTS'], command);
    t.equal(commands(), 0);
  }
});

t.test('a check without a command fails and runs nothing', async (t) => {
  const denied = { rule: 'acl', severity: 'error', message: 'no command' } as const;
  const { outcome, asked } = ask('  ', { denied, notRun: true });
  t.strictSame((await outcome).findings, [denied]);
  t.strictSame(asked, []);
});

t.test('`policyWords` splits quoted words and rejects shell expansions', async (t) => {
  t.strictSame(policyWords(' a  b\tc '), ['a', 'b', 'c']);
  t.strictSame(policyWords(`a'b c'd "e"''`), ['ab cd', 'e']);
  t.strictSame(policyWords(''), []);
  t.equal(policyWords('a \\b'), undefined);
  t.equal(policyWords('a *'), undefined);
  t.equal(policyWords('a "$(b)"'), undefined);
  t.strictSame(policyWords("a '$(b)'"), ['a', '$(b)']);
});
