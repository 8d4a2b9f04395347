import t from 'tap';
import { nameRepository, openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';

t.test('a spec that names a path gets the name of its origin, else of its first commit', async (t) => {
  const made = makeRepository(t.testdir());
  const first = made.commit({ 'a.txt': 'a\n' });
  const name = async (locator: string): Promise<string> =>
    nameRepository(await openRepository(made.dir), { type: 'git', locator }, first);
  made.git('remote', 'add', 'origin', 'file:///srv/git/a.git');
  t.equal(await name('file:///srv/git/a.git'), `urn:writ:repository:${first}`);
  made.git('remote', 'set-url', 'origin', 'https://mirror.example.com/a.git');
  t.equal(await name('file:///srv/git/a.git'), 'git+https://mirror.example.com/a.git');
  const stated = 'https://git.example.com/a.git';
  t.equal(await name(stated), `git+${stated}`, 'an address in the spec comes first');
});
