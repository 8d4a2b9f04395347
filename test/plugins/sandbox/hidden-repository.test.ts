import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { hideRepository } from '../../../workspace/git/hide-repository.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { openScene, type Scene } from './sandbox-scene.ts';

function fileIn(directory: string, name: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, name), `${name}\n`);
}

/** A working tree with a file that is not committed, a workspace with the candidate, and a directory that is shared. */
function layOut({ root, workspace }: Scene, tree: string) {
  fileIn(tree, 'dirty');
  fileIn(workspace, 'candidate');
  fileIn(path.join(root, 'shared'), 'library');
  return {
    binds: [{ source: path.join(root, 'shared'), target: '/workspace/.venv', writable: false }],
    repository: { root: tree, others: [path.join(tree, '.git')], isIgnored: async () => false },
  };
}

const candidateAt = (tree: string): string =>
  `cd "${tree}" && cat candidate .venv/library && test ! -e dirty && echo new >"${tree}/written"`;

for (const make of [bubblewrapSandbox, unshareSandbox]) {
  const { name } = make();
  t.test(`${name}: the path of the working tree leads to the candidate`, async (t) => {
    const scene = openScene(t);
    const tree = path.join(scene.root, 'project');
    const result = await scene.run(make(scene.facts), candidateAt(tree), layOut(scene, tree));
    t.equal(result.stdout.bytes.toString(), 'candidate\nlibrary\n', result.stderr.bytes.toString());
    t.equal(result.exitCode, 0);
    t.ok(existsSync(path.join(scene.workspace, 'written')));
    t.notOk(existsSync(path.join(tree, 'written')));
  });

  t.test(`${name}: also in a directory of programs that is shown`, async (t) => {
    const scene = openScene(t);
    const library = path.join(scene.root, 'tools', 'lib');
    fileIn(path.join(scene.root, 'tools', 'bin'), 'tool');
    fileIn(library, 'part-of-the-tool');
    const [tree, other] = [path.join(library, 'project'), path.join(library, 'main')];
    fileIn(other, 'secret');
    const { repository, binds } = layOut(scene, tree);
    const facts = { ...scene.facts, path: `${path.join(scene.root, 'tools', 'bin')}:${scene.facts.path}` };
    const script = `cat ${library}/part-of-the-tool && ${candidateAt(tree)} && ls -A ${other}`;
    const result = await scene.run(make(facts), script, {
      binds,
      repository: { ...repository, others: [...repository.others, other] },
    });
    t.equal(
      result.stdout.bytes.toString(),
      'part-of-the-tool\ncandidate\nlibrary\n',
      result.stderr.bytes.toString(),
    );
    t.equal(result.exitCode, 0);
    t.notOk(existsSync(path.join(tree, 'written')));
  });

  t.test(`${name}: also by a path with a link of the profile`, async (t) => {
    const scene = openScene(t);
    const result = await scene.run(make(scene.facts), candidateAt('/var/tmp/ann/project'), {
      ...layOut(scene, path.join(scene.root, 'project')),
      repository: { root: '/var/tmp/ann/project', others: [], isIgnored: async () => false },
    });
    t.equal(result.stdout.bytes.toString(), 'candidate\nlibrary\n', result.stderr.bytes.toString());
  });

  t.test(`${name}: also a working tree in the main one`, async (t) => {
    const scene = openScene(t);
    const library = path.join(scene.root, 'tools', 'lib');
    fileIn(path.join(scene.root, 'tools', 'bin'), 'tool');
    const main = path.join(library, 'main');
    fileIn(main, 'secret');
    const tree = path.join(main, '.worktrees', 'one');
    const { repository, binds } = layOut(scene, tree);
    const facts = { ...scene.facts, path: `${path.join(scene.root, 'tools', 'bin')}:${scene.facts.path}` };
    const script = `${candidateAt(tree)} && ls -A ${main} && ! touch ${main}/new`;
    const result = await scene.run(make(facts), script, {
      binds,
      repository: { ...repository, others: [main] },
    });
    t.equal(result.stdout.bytes.toString(), 'candidate\nlibrary\n.worktrees\n', String(result.stderr.bytes));
    t.equal(result.exitCode, 0);
  });

  t.test(`${name}: a linked working tree that was moved away, with a link left behind`, async (t) => {
    const scene = openScene(t);
    const library = path.join(scene.root, 'tools', 'lib');
    fileIn(path.join(scene.root, 'tools', 'bin'), 'tool');
    fileIn(library, 'part-of-the-tool');
    const main = makeRepository(path.join(scene.root, 'main'));
    main.commit({ committed: 'text' });
    const [place, moved] = [path.join(library, 'side'), path.join(scene.root, 'moved')];
    main.git('worktree', 'add', '-q', '-b', 'side', place);
    renameSync(place, moved);
    symlinkSync(moved, place);
    fileIn(scene.workspace, 'candidate');
    const facts = { ...scene.facts, path: `${path.join(scene.root, 'tools', 'bin')}:${scene.facts.path}` };
    const backend = hideRepository(make(facts), await openRepository(path.join(scene.root, 'main')));
    const script = `cat candidate ${library}/part-of-the-tool && test ! -e ${place} && test ! -e ${moved}`;
    const result = await scene.run(backend, script);
    t.equal(result.stdout.bytes.toString(), 'candidate\npart-of-the-tool\n', `${result.stderr.bytes}`);
    t.equal(result.exitCode, 0);
  });

  t.test(`${name}: a path that cannot become a link stays as it is`, async (t) => {
    const scene = openScene(t);
    for (const root of ['/', '/tmp', '/workspace', '/proc/1', '/bin/project']) {
      const repository = { root, others: [], isIgnored: async () => false };
      const result = await scene.run(make(scene.facts), 'test -d /tmp && pwd', { repository });
      t.equal(result.stdout.bytes.toString(), '/workspace\n', `${root} ${result.stderr.bytes}`);
    }
  });
}
