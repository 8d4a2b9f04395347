import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { mayHaveService } from '../../service/find-service.ts';

t.test(
  'a repository certainly has no service only if its main work tree is here and has no files of one',
  async (t) => {
    const box = t.testdir({ main: { below: {} } });
    const main = join(box, 'main');
    const git = (...args: string[]) => execFileSync('git', ['-C', main, ...args], { stdio: 'ignore' });
    git('init', '--quiet');
    t.equal(mayHaveService(main), false);
    t.equal(mayHaveService(join(main, 'below')), false);
    symlinkSync(join(main, 'below'), join(box, 'link'));
    t.equal(mayHaveService(join(box, 'link')), false);
    git('-c', 'user.name=a', '-c', 'user.email=a@a.example', 'commit', '--allow-empty', '--quiet', '-m', 'a');
    git('worktree', 'add', '--quiet', join(box, 'linked'));
    t.equal(mayHaveService(join(box, 'linked')), true, 'a linked work tree asks git');
    t.equal(mayHaveService(join(box, 'nowhere')), true);
    mkdirSync(join(main, '.git/writ/service'), { recursive: true });
    t.equal(mayHaveService(main), true);
    execFileSync('rm', ['-r', join(main, '.git/writ')]);
    mkdirSync(join(main, '.writ/service'), { recursive: true });
    t.equal(mayHaveService(join(main, 'below')), true);
    execFileSync('rm', ['-r', join(main, '.writ')]);
    git('config', 'core.worktree', box);
    t.equal(mayHaveService(main), true);
  },
);
