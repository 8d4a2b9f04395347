import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import t, { type Test } from 'tap';

const launcher = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
const honest = "console.log('honest'); export const main = () => {};";
const planted = "console.log('forged'); export const main = () => {};";

interface Program {
  readonly root: string;
  /** What it says, with this directory for temporary files and this home. */
  says(env: { readonly TMPDIR?: string; readonly HOME: string }): string;
}

function program(t: Test): Program {
  const root = t.testdir({
    bin: {},
    dist: { bin: { 'main.js': honest } },
    'package.json': '{"type":"module"}',
  });
  cpSync(launcher, join(root, 'bin', 'writ.js'));
  return {
    root,
    says: (env) =>
      execFileSync(process.execPath, [join(root, 'bin', 'writ.js'), 'a'], { env, encoding: 'utf8' }).trim(),
  };
}

/**
 * A compile cache in which the honest source's name and checksum stand over what another source of its length was
 * compiled to, as anybody can make one.
 */
function forgedCache({ root }: Program): string {
  const cache = join(root, 'forged');
  const file = join(root, 'dist', 'bin', 'main.js');
  writeFileSync(file, planted);
  const load = `import(${JSON.stringify(file)})`;
  execFileSync(process.execPath, ['-e', load], { env: { NODE_COMPILE_CACHE: cache } });
  writeFileSync(file, honest);
  const [version = ''] = readdirSync(cache);
  for (const name of readdirSync(join(cache, version))) {
    const entry = join(cache, version, name);
    const bytes = readFileSync(entry);
    const at = bytes.indexOf(uint32(crc32(planted)));
    if (at < 0) continue;
    uint32(crc32(honest)).copy(bytes, at);
    writeFileSync(entry, bytes);
  }
  return cache;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

t.test('a compile cache planted in the temporary directory is not used', async (t) => {
  const one = program(t);
  const TMPDIR = join(one.root, 'tmp');
  const HOME = join(one.root, 'home');
  mkdirSync(HOME);
  mkdirSync(TMPDIR, { mode: 0o777 });
  const forged = forgedCache(one);
  cpSync(forged, join(TMPDIR, 'node-compile-cache'), { recursive: true });
  t.equal(one.says({ HOME, TMPDIR }), 'honest');

  const own = join(HOME, '.cache', 'writ', 'compiled');
  t.equal(statSync(own).mode & 0o777, 0o700, 'its own place is the user’s alone');
  t.ok(readdirSync(own).length > 0, 'and is used');
});

t.test('a compile cache that other users can write is not used', async (t) => {
  const one = program(t);
  const forged = forgedCache(one);
  const HOME = join(one.root, 'home');
  const own = join(HOME, '.cache', 'writ', 'compiled');
  const lay = (): void => {
    rmSync(HOME, { recursive: true, force: true });
    mkdirSync(join(HOME, '.cache', 'writ'), { recursive: true });
    cpSync(forged, own, { recursive: true });
    chmodSync(own, 0o700);
  };
  lay();
  t.equal(one.says({ HOME }), 'forged', 'the forgery itself works');
  for (const [open, mode] of [
    [own, 0o770],
    [own, 0o707],
    [own, 0o1777],
    [join(HOME, '.cache', 'writ'), 0o777],
    [join(HOME, '.cache'), 0o720],
    [HOME, 0o702],
  ] as const) {
    lay();
    chmodSync(open, mode);
    t.equal(one.says({ HOME }), 'honest', `${open.slice(one.root.length)} ${mode.toString(8)}`);
  }
  lay();
  chmodSync(HOME, 0o1777);
  t.equal(one.says({ HOME }), 'forged', 'in a sticky directory nobody can move what is another’s');

  const elsewhere = join(one.root, 'elsewhere');
  for (const [mode, said] of [
    [0o777, 'honest'],
    [0o700, 'forged'],
  ] as const) {
    lay();
    rmSync(elsewhere, { recursive: true, force: true });
    mkdirSync(elsewhere);
    chmodSync(elsewhere, mode);
    cpSync(own, join(elsewhere, 'compiled'), { recursive: true });
    rmSync(own, { recursive: true });
    symlinkSync(join(elsewhere, 'compiled'), own);
    t.equal(one.says({ HOME }), said, `a link leads to where it leads, ${mode.toString(8)}`);
  }
});

const skip = process.getuid?.() === 0 ? false : 'only root can lay a place for another user';
t.test('a compile cache owned by another user is not used', { skip }, async (t) => {
  const one = program(t);
  const HOME = join(one.root, 'home');
  const own = join(HOME, '.cache', 'writ', 'compiled');
  mkdirSync(join(own, '..'), { recursive: true });
  cpSync(forgedCache(one), own, { recursive: true });
  chmodSync(own, 0o700);
  execFileSync('chown', ['65534', own]);
  t.equal(one.says({ HOME }), 'honest');
  execFileSync('chown', ['0', own]);
  execFileSync('chown', ['65534', join(HOME, '.cache')]);
  t.equal(one.says({ HOME }), 'honest');
});

t.test('the program runs without a usable compile cache directory', async (t) => {
  const one = program(t);
  writeFileSync(join(one.root, 'file'), '');
  t.equal(one.says({ HOME: join(one.root, 'file') }), 'honest');
  t.equal(existsSync(join(one.root, 'file', '.cache')), false);
});
