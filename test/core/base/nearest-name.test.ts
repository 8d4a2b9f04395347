import t from 'tap';
import { editDistance, nearestName } from '../../../core/base/nearest-name.ts';

t.test('the nearest known name is found, or none', async (t) => {
  const known = ['bubblewrap', 'unshare', 'none', 'sandbox-exec'];
  t.equal(nearestName('bublewrap', known), 'bubblewrap');
  t.equal(nearestName('Unshare', known), 'unshare');
  t.equal(nearestName('sandboxexec', known), 'sandbox-exec');
  t.equal(nearestName('docker', known), undefined);
  t.equal(nearestName('', known), undefined);
  t.equal(nearestName('x', []), undefined);
});

t.test('of two near names the nearer one, of equals the first', async (t) => {
  t.equal(nearestName('internal-ledgr', ['internal-edge', 'internal-ledger']), 'internal-ledger');
  t.equal(nearestName('fasd', ['fast', 'fase']), 'fast');
});

t.test('a huge name costs nothing', async (t) => {
  t.equal(nearestName('x'.repeat(10_000_000), ['x']), undefined);
  t.equal(nearestName('x', ['x'.repeat(10_000_000)]), undefined);
});

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
  t.equal(nearestName('rnu', names), 'run');
  t.equal(nearestName('RUN', names), 'run');
  t.equal(nearestName('valid', names), 'validate', 'a beginning');
  t.equal(nearestName('xyz', names), undefined);
  t.equal(nearestName('re', names), undefined);
  t.equal(nearestName('', names), undefined);
  t.equal(nearestName('v'.repeat(10_000), names), undefined);
});
