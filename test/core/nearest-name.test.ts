import t from 'tap';
import { nearestName } from '../../core/nearest-name.ts';

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
