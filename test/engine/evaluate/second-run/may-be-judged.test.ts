import t from 'tap';
import { mayBeEvaluated } from '../../../../engine/evaluate/second-run/policy-inputs.ts';

const of = (path: string, via: string, role = 'script'): boolean =>
  mayBeEvaluated({ rule: 'judge-changed', severity: 'warning', message: 'm', path, detail: { role, via } });

t.test('a file that a script leads to may be product code, except in tooling directories', async (t) => {
  t.equal(of('price.js', '`check.js`'), true);
  t.equal(of('lib/price.sh', '`ci/check.sh`'), true);
  t.equal(of('prices.json', '`ci/check.js`'), true);
  t.equal(of('scripts/rules.js', '`check.js`'), false, 'tooling');
  t.equal(of('check.js', 'the command of check `unit`'), false, 'named by the command');
  t.equal(of('check.js', 'script `test` of `package.json`'), false, 'named by a script of a manifest');
  t.equal(of('check.js', '`Makefile`'), false, 'named by a recipe');
  t.equal(of('jest.config.js', '`jest`', 'config'), false, 'configuration');
});
