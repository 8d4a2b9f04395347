import t from 'tap';
import { checkEnvironment, sandboxVariables } from '../../../workspace/process/find-program.ts';

const facts = {
  intentSpecId: 'sample-intent-0001',
  intentSpecDigest: 'd'.repeat(64),
  runId: '0190',
  workspace: '/workspace',
  baseSha: 'b'.repeat(40),
  patchSetDigest: 'e'.repeat(64),
  reportsDir: '/reports',
};

t.test('a check sees only the variables of the Scheduler, a locale and CI', async (t) => {
  t.strictSame(checkEnvironment(facts), {
    INTENTSPEC_ID: 'sample-intent-0001',
    INTENTSPEC_DIGEST: 'd'.repeat(64),
    RUN_ID: '0190',
    WORKSPACE: '/workspace',
    BASE_SHA: 'b'.repeat(40),
    PATCHSET_DIGEST: 'e'.repeat(64),
    REPORTS_DIR: '/reports',
    LANG: 'C.UTF-8',
    CI: 'true',
  });
});

t.test('variables of the host environment do not reach a check', async (t) => {
  t.intercept(process, 'env', { value: { LANG: 'de_DE', RUN_ID: 'mine', API_KEY: 'secret' } });
  const environment = checkEnvironment(facts);
  t.equal(environment.LANG, 'C.UTF-8');
  t.equal(environment.RUN_ID, '0190');
  t.notOk('API_KEY' in environment);
});

t.test('the environment of a check leaves out the variables that the sandbox sets', async (t) => {
  const names = Object.keys(checkEnvironment(facts));
  t.same(
    names.filter((name) => (sandboxVariables as readonly string[]).includes(name)),
    [],
  );
});
