import t from 'tap';
import type { PatchFile } from '../../../core/interfaces/patch-set.ts';
import { isRegularCandidate } from '../../../gates/source/changed-source.ts';

t.test('a file is a regular candidate unless it is a symlink, a submodule or deleted', async (t) => {
  const file = (more: Partial<PatchFile>): PatchFile => ({
    ...({ path: 'a', changeType: 'modify' } as PatchFile),
    ...more,
  });
  t.equal(isRegularCandidate(file({})), true, 'its mode is as before');
  t.equal(isRegularCandidate(file({ newMode: '100644' })), true);
  t.equal(isRegularCandidate(file({ newMode: '100755' })), true);
  t.equal(isRegularCandidate(file({ newMode: '120000' })), false, 'a link');
  t.equal(isRegularCandidate(file({ newMode: '160000' })), false, 'a submodule');
  t.equal(isRegularCandidate(file({ changeType: 'delete' })), false);
});
