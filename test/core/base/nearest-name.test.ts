import t from 'tap';
import { editDistance, nearestName } from '../../../core/base/printable.ts';

t.test('`nearestName` finds the nearest known name or none', async (t) => {
  const known = ['bubblewrap', 'unshare', 'none', 'sandbox-exec'];
  t.equal(nearestName('bublewrap', known), 'bubblewrap');
  t.equal(nearestName('Unshare', known), 'unshare');
  t.equal(nearestName('sandboxexec', known), 'sandbox-exec');
  t.equal(nearestName('docker', known), undefined);
  t.equal(nearestName('', known), undefined);
  t.equal(nearestName('x', []), undefined);
});

t.test('of two similar names the nearer one wins, and of equally near ones the first', async (t) => {
  t.equal(nearestName('internal-ledgr', ['internal-edge', 'internal-ledger']), 'internal-ledger');
  t.equal(nearestName('fasd', ['fast', 'fase']), 'fast');
});

t.test('a huge name matches nothing', async (t) => {
  t.equal(nearestName('x'.repeat(10_000_000), ['x']), undefined);
  t.equal(nearestName('x', ['x'.repeat(10_000_000)]), undefined);
});

t.test('each single edit has distance one', async (t) => {
  t.equal(editDistance('verify', 'verify'), 0);
  t.equal(editDistance('verfy', 'verify'), 1, 'insertion');
  t.equal(editDistance('veriffy', 'verify'), 1, 'deletion');
  t.equal(editDistance('verizy', 'verify'), 1, 'substitution');
  t.equal(editDistance('vreify', 'verify'), 1, 'swap of neighbours');
  t.equal(editDistance('', 'abc'), 3);
  t.equal(editDistance('kitten', 'sitting'), 3);
});

t.test('a candidate is suggested only if it is a small edit or extends the input', async (t) => {
  const names = ['run', 'runs', 'verify', 'validate', 'report'];
  t.equal(nearestName('rnu', names), 'run');
  t.equal(nearestName('RUN', names), 'run');
  t.equal(nearestName('valid', names), 'validate', 'a beginning');
  t.equal(nearestName('xyz', names), undefined);
  t.equal(nearestName('re', names), undefined);
  t.equal(nearestName('', names), undefined);
  t.equal(nearestName('v'.repeat(10_000), names), undefined);
});
