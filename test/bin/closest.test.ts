import t from 'tap';
import { closest, editDistance } from '../../bin/closest.ts';

t.test('one slip of each kind costs one', async (t) => {
  t.equal(editDistance('verify', 'verify'), 0);
  t.equal(editDistance('verfy', 'verify'), 1, 'insertion');
  t.equal(editDistance('veriffy', 'verify'), 1, 'deletion');
  t.equal(editDistance('verizy', 'verify'), 1, 'substitution');
  t.equal(editDistance('vreify', 'verify'), 1, 'swap of neighbours');
  t.equal(editDistance('', 'abc'), 3);
  t.equal(editDistance('kitten', 'sitting'), 3);
});

t.test('the nearest candidate is suggested only while a slip explains it', async (t) => {
  const names = ['run', 'runs', 'verify', 'validate', 'report'];
  t.equal(closest('rnu', names), 'run');
  t.equal(closest('RUN', names), 'run');
  t.equal(closest('valid', names), 'validate', 'a beginning');
  t.equal(closest('xyz', names), undefined);
  t.equal(closest('re', names), undefined);
  t.equal(closest('', names), undefined);
  t.equal(closest('v'.repeat(10_000), names), undefined);
});
