import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { classifyCommand, readPrograms } from '../../../session/approvals/classify-command.ts';
import { execFileBounded } from '../../../workspace/process/spawn.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';

/** Every file beneath a directory: what it is, how long, when it was written, what is in it. */
function listing(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const at = join(root, name);
      const { mode, size, mtimeMs } = lstatSync(at);
      return `${name} ${mode} ${size} ${mtimeMs} ${lstatSync(at).isFile() ? readFileSync(at, 'utf8') : ''}`;
    });
}

const operands = [
  'a',
  'b',
  'src',
  'src/c',
  'link',
  '.',
  '-',
  '--',
  'new',
  "'a b'",
  '1',
  '1,2p',
  "'1p'",
  "'w new'",
  '+%F',
  '!',
  "'('",
  "')'",
  'f',
  '=',
  '-nt',
  '-a',
  '-o',
  '-f',
  '-d',
];
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const longOptions = [
  '--output=new',
  '--files0-from=a',
  '--recursive',
  '--include=a',
  '--color',
  '--help',
  '--compress-program=touch',
  '--pre=touch',
  '--in-place',
  '--set=1',
  '--files',
  '--',
  '-delete',
  '-fprint',
  '-exec',
  '-name',
  '-newer',
  '-print',
];

long('commands classified as safe change nothing when they run', async (t) => {
  const random = seededRandom(toldSeed(t));
  const pick = <One>(list: readonly One[]): One | undefined => list[Math.floor(random() * list.length)];
  const root = realpathSync(t.testdir());
  const workspace = join(root, 'w');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  for (const [name, text] of Object.entries({
    a: 'x\ny\nx\n',
    b: 'a\0b',
    'src/c': '1\n2\n',
    '../outside': 'o\n',
    'a b': 's',
  }))
    writeFileSync(join(workspace, name), text);
  symlinkSync('../outside', join(workspace, 'link'));
  const before = listing(root);
  const option = (): string => {
    const many = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(letters)).join('');
    return random() < 0.25 ? (pick(longOptions) ?? '') : `-${many}`;
  };
  const env = { PATH: process.env.PATH ?? '', HOME: root, TMPDIR: root, LC_ALL: 'C' };
  let ran = 0;
  for (const program of readPrograms.keys())
    for (let round = 0; round < 60; round += 1) {
      const words = Array.from({ length: Math.floor(random() * 4) }, () =>
        random() < 0.5 ? option() : pick(operands),
      );
      const joint = pick(['', '', '', ' | cat', ' && cat a', '; sort -u a']) ?? '';
      const text = `${[program, ...words].join(' ')}${joint}`;
      if (classifyCommand(text).class !== 'safe') continue;
      ran += 1;
      await execFileBounded(['sh', '-c', text], {
        cwd: workspace,
        env,
        input: '',
        maxBytes: 10_000_000,
        signal: AbortSignal.timeout(20_000),
      });
      const after = listing(root);
      if (after.join('\n') === before.join('\n')) continue;
      t.strictSame(after, before, text);
      return;
    }
  t.ok(ran > 800, `${ran} commands were run`);
});

t.test('every read program is in the table under its bare name', async (t) => {
  for (const name of readPrograms.keys()) t.match(name, /^(?:\[|[a-z0-9]+)$/);
});
