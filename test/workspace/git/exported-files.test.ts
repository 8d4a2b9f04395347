import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { rememberExport } from '../../../workspace/git/exported-files.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { exportTree, readSmallTree } from '../../../workspace/git/workspace.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { makeRepository } from './sample-repository.ts';

const sum = 'export const sum = (a, b) => a - b;\n';
const fake = 'export const sum = (a, b) => a + b;\n';

for (const [format, by] of [
  ['sha1', 'git'],
  ['sha1', 'memory'],
  ['sha256', 'git'],
] as const) {
  t.test(`changes to an export are detected by content (${format}, by ${by})`, async (t) => {
    const box = t.testdir({});
    const sample = makeRepository(join(box, 'repo'), `--object-format=${format}`);
    const raw = '* -text -ident -working-tree-encoding\n';
    writeFileSync(join(sample.dir, '.git/info/attributes'), raw);
    sample.commit({
      '.gitattributes': '* text=auto ident\n*.u16 working-tree-encoding=UTF-16\n',
      'src/sum.js': sum,
      'src/deep/a.js': 'a\n',
      'src/deep/b.js': 'b\n',
      'id.js': '// $Id$\n',
      'plain.u16': 'plain\n',
      tool: { exec: '#!/bin/sh\n' },
      link: { link: 'src/sum.js' },
      ...(by === 'git' ? { 'ä "x"\t\n': 'odd\n' } : {}),
    });
    const module = `160000,${'1'.repeat(format === 'sha1' ? 40 : 64)},module`;
    // Of either only git can make an export.
    if (by === 'git') {
      sample.git('update-index', '--add', '--cacheinfo', module);
      sample.git('commit', '-q', '-m', 'module');
    }
    const commit = sample.git('rev-parse', 'HEAD').trim();
    const scratch = await createScratch(join(box, 'scratch'), await openRepository(sample.dir));
    const small = await readSmallTree(scratch, await listTree(scratch, commit));
    t.equal(small !== undefined, by === 'memory');
    let count = 0;
    const after = async (change: (directory: string) => unknown, wait = 0): Promise<readonly string[]> => {
      const directory = join(box, `world-${++count}`);
      await exportTree(scratch, commit, directory, commit, small);
      await lookOn(wait);
      const exported = await rememberExport(scratch, directory, `${directory}.index`, small);
      await lookOn(wait);
      await change(directory);
      return exported.changed();
    };
    const asItWas = (path: string, content: string): void => {
      const { atime, mtime } = lstatSync(path);
      writeFileSync(path, content);
      utimesSync(path, atime, mtime);
    };

    t.strictSame(await after(() => {}), []);
    t.strictSame(await after((at) => writeFileSync(join(at, 'src/sum.js'), fake)), ['src/sum.js']);
    for (const wait of [0, 1100])
      t.strictSame(
        await after((at) => asItWas(join(at, 'src/sum.js'), fake), wait),
        ['src/sum.js'],
        `another content of the same size and time after ${wait} ms`,
      );
    const cases: Record<string, readonly [(at: string) => unknown, readonly string[]]> = {
      'a longer file': [(at) => truncateSync(join(at, 'src/sum.js'), 2 ** 40), ['src/sum.js']],
      'a removed one': [(at) => rmSync(join(at, 'src/sum.js')), ['src/sum.js']],
      'another in its place': [
        (at) => {
          asItWas(join(at, 'tool'), '#!/bin/XX\n');
          renameSync(join(at, 'tool'), join(at, 'was'));
          renameSync(join(at, 'was'), join(at, 'tool'));
        },
        ['tool'],
      ],
      'a link to elsewhere': [
        (at) => {
          rmSync(join(at, 'link'));
          symlinkSync('src/fak.js', join(at, 'link'));
        },
        ['link'],
      ],
      'a link for a file': [
        (at) => {
          renameSync(join(at, 'src/sum.js'), join(at, 'same.js'));
          symlinkSync('../same.js', join(at, 'src/sum.js'));
        },
        ['src/sum.js'],
      ],
      'a link for a directory': [
        (at) => {
          renameSync(join(at, 'src/deep'), join(at, 'same'));
          symlinkSync('../same', join(at, 'src/deep'));
        },
        ['src/deep/a.js', 'src/deep/b.js'],
      ],
      'a directory for a file': [
        (at) => {
          rmSync(join(at, 'tool'));
          mkdirSync(join(at, 'tool'));
        },
        ['tool'],
      ],
      'what attributes would hide': [
        (at) => {
          writeFileSync(join(at, 'id.js'), '// $Id: evil $\n');
          writeFileSync(join(at, 'plain.u16'), Buffer.from('\ufeffplain\n', 'utf16le'));
          writeFileSync(join(at, 'src/deep/a.js'), 'a\r\n');
        },
        ['id.js', 'plain.u16', 'src/deep/a.js'],
      ],
      'a name that needs quoting': [(at) => writeFileSync(join(at, 'ä "x"\t\n'), 'ODD\n'), ['ä "x"\t\n']],
      'nothing where .git says so': [
        (at) => {
          writeFileSync(join(at, 'src/sum.js'), fake);
          writeFileSync(join(at, '.git/info/exclude'), '*\n');
          rmSync(join(at, '.git/index'));
          rmSync(join(at, '.git/config'));
        },
        ['src/sum.js'],
      ],
      'what is not tracked': [
        (at) => {
          writeFileSync(join(at, 'built.js'), '');
          mkdirSync(join(at, 'dist'));
        },
        [],
      ],
      'the same bytes again': [
        (at) => {
          writeFileSync(join(at, 'src/sum.js'), fake);
          writeFileSync(join(at, 'src/sum.js'), sum);
          rmSync(join(at, 'link'));
          symlinkSync('src/sum.js', join(at, 'link'));
          cpSync(join(at, 'tool'), join(at, 'copy'));
          renameSync(join(at, 'copy'), join(at, 'tool'));
        },
        [],
      ],
      modes: [(at) => chmodSync(join(at, 'src/sum.js'), 0o755), []],
      'a workspace without rights': [(at) => chmodSync(at, 0), []],
    };
    if (by === 'memory') delete cases['a name that needs quoting'];
    for (const [name, [change, expected]] of Object.entries(cases))
      t.strictSame(await after(change, 0), expected, name);

    const sprung = join(box, 'sprung');
    const trap = (at: string): void => {
      const inner = makeRepository(join(at, 'module'));
      inner.commit({ x: 'x' });
      for (const key of ['core.fsmonitor', 'core.sshCommand', 'filter.trap.clean'])
        inner.git('config', key, `touch ${sprung}`);
      writeFileSync(join(at, '.git/config'), `[core]\n\tfsmonitor = touch ${sprung}\n`);
      writeFileSync(join(at, '.gitattributes'), '* filter=trap\n');
    };
    t.strictSame(await after(trap, 0), ['.gitattributes']);
    t.notOk(existsSync(sprung), 'nothing that lies there is run');
    t.equal(readFileSync(join(box, 'world-1/src/sum.js'), 'utf8'), sum);
  });
}
