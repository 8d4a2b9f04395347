import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { findProgram } from '../../workspace/process/find-program.ts';
import { long } from '../rooms/long.ts';

const launcher = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
/** Says what it is; the second word is the part of it that runs, the third its exit code. */
const text = (name: string): string => `
  exports.main = (argv) => {
    module.ran[Number(argv[1] ?? 0)] = 1;
    process.exitCode = Number(argv[2] ?? 0);
    process.stdout.write(say());
  };
  function say() { return '${name}'; }`;
const honest = text('honest');

interface Program {
  readonly root: string;
  readonly home: string;
  readonly own: string;
  /** Where its code is kept; there is one such file. */
  kept(): string;
  holds(source: string): void;
  says(options?: Options, ...argv: readonly string[]): string;
}

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** A program that starts it with less than this process may do. */
  readonly without?: readonly string[];
  /** Blocks that a file may have. */
  readonly blocks?: number;
}

function program(t: Test): Program {
  const root = t.testdir({
    bin: {},
    home: {},
    dist: { bin: { 'verify-alone.cjs': honest } },
    'package.json': '{"type":"module"}',
  });
  cpSync(launcher, join(root, 'bin', 'writ.js'));
  const home = join(root, 'home');
  const own = join(home, '.cache', 'writ', 'compiled');
  return {
    root,
    home,
    own,
    kept: () => {
      const [name = 'none', ...more] = keptIn(own);
      t.same(more, []);
      return join(own, name);
    },
    holds: (source) => writeFileSync(join(root, 'dist', 'bin', 'verify-alone.cjs'), source),
    says: ({ env = {}, node = [], without = [], blocks } = {}, ...argv) => {
      const line = [...without, process.execPath, ...node, join(root, 'bin', 'writ.js'), 'verify', ...argv];
      const limited = blocks === undefined ? '' : `ulimit -f ${blocks}; `;
      return execFileSync('/bin/sh', ['-c', `${limited}exec "$@"`, 'sh', ...line], {
        env: { HOME: home, ...env },
        encoding: 'utf8',
        timeout: 120_000,
        // Not a word on standard error either.
        stdio: ['ignore', 'pipe', 1],
      });
    },
  };
}

function keptIn(own: string): readonly string[] {
  return readdirSync(own).filter((name) => name.startsWith('alone-'));
}

/** Where the text and the code begin in a kept file, which holds the code twice. */
function placesIn(bytes: Buffer): { readonly text: number; readonly code: number; readonly once: Buffer } {
  const upToEight = (length: number): number => Math.ceil(length / 8) * 8;
  const textAt = 8 + upToEight(bytes.readUInt32LE(0));
  const code = textAt + upToEight(bytes.readUInt32LE(4));
  return { text: textAt, code, once: bytes.subarray(code, code + (bytes.length - code) / 2) };
}

/** The file as `keep` writes it, of this text. */
function of(bytes: Buffer, source: string): Buffer {
  const copy = Buffer.from(bytes);
  copy.write(source, placesIn(bytes).text);
  return copy;
}

/** The file as `keep` writes it, of this code. */
function holding(bytes: Buffer, code: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, placesIn(bytes).code), code, code]);
}

/** What another text of the same length was compiled to, kept as if it were of the honest one. */
function forge(one: Program): Buffer {
  one.holds(text('forged'));
  one.says();
  const forged = of(readFileSync(one.kept()), honest);
  writeFileSync(one.kept(), forged);
  one.holds(honest);
  return forged;
}

t.test('compiled code is cached for its user alone and reused on the next run', async (t) => {
  const one = program(t);
  t.equal(one.says(), 'honest');
  t.equal(statSync(one.kept()).mode & 0o777, 0o600);
  forge(one);
  t.equal(one.says(), 'forged', 'compiled code is run without a look at its text');
  t.equal(one.says({ env: { NODE_DISABLE_COMPILE_CACHE: '1' } }), 'honest');
  t.equal(one.says({ node: ['--no-opt'] }), 'honest', 'another Node, or one with other options, has its own');
  t.equal(keptIn(one.own).length, 2);
});

t.test('cached code can import sibling files and built-in modules without a warning', async (t) => {
  const one = program(t);
  writeFileSync(join(one.root, 'dist', 'bin', 'beside.mjs'), "export const word = 'beside';");
  one.holds(`exports.main = async () => {
    const loaded = await Promise.all([module.loadBeside('./beside.mjs'), module.loadBeside('node:os')]);
    process.stdout.write(loaded[0].word + typeof loaded[1].hostname);
  };`);
  t.equal(one.says(), 'besidefunction');
  t.equal(one.says(), 'besidefunction');
});

long('damaged or outdated cached code is recompiled', async (t) => {
  const one = program(t);
  const forged = forge(one);
  const path = one.kept();
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(forged);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  };
  const { text: textAt, code, once } = placesIn(forged);
  const lost = Buffer.from(forged).fill(0, code + 64, code + 96);
  const unsound = [
    ['empty', Buffer.alloc(0)],
    ['no more than its lengths', forged.subarray(0, 8)],
    ['no more than its text', forged.subarray(0, code)],
    ['cut short', forged.subarray(0, forged.length - 100)],
    ['cut short by half of its code', forged.subarray(0, code + once.length)],
    ['longer', Buffer.concat([forged, Buffer.alloc(8)])],
    ['zeros', Buffer.alloc(forged.length)],
    ['a byte of the code is another', changed(code + 200)],
    ['a byte of its other copy is another', changed(forged.length - 200)],
    ['a part of the code was lost', lost],
    ['a length is another', changed(0)],
    ['of another Node', changed(9)],
    ['of another text', of(forged, text('others'))],
    ['a byte of its text is another', changed(textAt + 3)],
    ['too short to say what ran', holding(forged, once.subarray(0, 2))],
    ['without code', holding(forged, once.subarray(0, 16))],
  ] as const;
  for (const [name, bytes] of unsound) {
    writeFileSync(path, bytes);
    t.equal(one.says(), 'honest', name);
    t.not(readFileSync(path).compare(bytes), 0, `${name}: made anew`);
  }
  const before = readFileSync(path);
  const refused = Buffer.from(placesIn(before).once).fill(7, 16, 48);
  writeFileSync(path, holding(before, refused));
  t.equal(one.says(), 'honest', 'whole, and V8 refuses it');
  t.equal(one.says(), 'honest');
  t.not(readFileSync(path).indexOf(placesIn(before).once.subarray(16, 48)), -1, 'made anew');
  one.holds(honest.replace('honest', 'edited'));
  t.equal(one.says(), 'edited', 'an edited program runs as it was edited');
});

long('cached code is ignored if it is a symlink, not a file or writable by others', async (t) => {
  const one = program(t);
  const forged = forge(one);
  const path = one.kept();
  const beside = join(one.own, 'beside');
  const lay = (): void => {
    for (const at of [path, beside]) rmSync(at, { recursive: true, force: true });
    writeFileSync(path, forged, { mode: 0o600 });
  };
  lay();
  t.equal(one.says(), 'forged', 'the forgery itself works');
  const ways: Readonly<Record<string, () => void>> = {
    'a link': () => {
      renameSync(path, beside);
      symlinkSync(beside, path);
    },
    'a second name': () => linkSync(path, beside),
    'the group writes': () => chmodSync(path, 0o620),
    'all write': () => chmodSync(path, 0o602),
    'a pipe': () => {
      rmSync(path);
      execFileSync('mkfifo', [path]);
    },
    'a directory': () => {
      rmSync(path);
      mkdirSync(path);
    },
    'larger than any': () =>
      writeFileSync(path, holding(forged, Buffer.concat([placesIn(forged).once, Buffer.alloc(2 ** 24)]))),
    ...(process.getuid?.() === 0 ? { 'another’s': () => chownSync(path, 65534, 65534) } : {}),
  };
  for (const [name, change] of Object.entries(ways)) {
    lay();
    change();
    t.equal(one.says(), 'honest', name);
  }
  lay();
  chmodSync(one.own, 0o770);
  t.equal(one.says(), 'honest', 'where others write the directory');
});

t.test('code is cached again when a new part ran, but not after an internal error', async (t) => {
  const one = program(t);
  t.throws(() => one.says({}, '0', '70'));
  t.equal(keptIn(one.own).length, 0, 'a fault keeps nothing');
  t.throws(() => one.says({}, '0', '1'), 'an answer of no');
  const made = (): number => statSync(one.kept()).ino;
  const inode = made();
  t.equal(one.says({}, '0'), 'honest');
  t.equal(made(), inode, 'the same part again');
  one.says({}, '9');
  const second = made();
  t.not(second, inode, 'another part');
  one.says({}, '0');
  one.says({}, '9');
  t.equal(made(), second, 'both are known now');
});

t.test('cached code of removed programs is deleted after a month', async (t) => {
  const one = program(t);
  mkdirSync(one.own, { recursive: true });
  const month = Date.now() / 1000 - 31 * 86_400;
  for (const name of ['alone-old', 'alone-new', 'other']) {
    writeFileSync(join(one.own, name), '');
    if (name !== 'alone-new') utimesSync(join(one.own, name), month, month);
  }
  one.says();
  t.same(
    ['alone-old', 'alone-new', 'other'].map((name) => existsSync(join(one.own, name))),
    [false, true, true],
  );
});

long('concurrent processes leave one complete cache file', async (t) => {
  const one = program(t);
  const start = (): Promise<string> =>
    new Promise((resolve, reject) =>
      execFile(
        process.execPath,
        [join(one.root, 'bin', 'writ.js'), 'verify'],
        { env: { HOME: one.home } },
        (fault, out, err) => (fault === null ? resolve(out + err) : reject(fault)),
      ),
    );
  t.same(new Set(await Promise.all(Array.from({ length: 6 }, start))), new Set(['honest']));
  const whole = readFileSync(one.kept());
  t.same(holding(whole, placesIn(whole).once), whole);
});

// Root writes where nobody may, unless it gives that up.
const without = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
const cannot = without.length > 0 && findProgram('setpriv', '') === undefined;
const skip = cannot ? 'root writes everywhere' : false;
t.test('a command runs without a cache if no file can be written', { skip }, async (t) => {
  const one = program(t);
  t.equal(one.says({ blocks: 1 }), 'honest', 'a full disk');
  t.same(keptIn(one.own), []);
  for (const at of [one.own, one.home]) {
    rmSync(join(one.home, '.cache'), { recursive: true });
    mkdirSync(at, { recursive: true, mode: 0o700 });
    chmodSync(at, 0o500);
    t.equal(one.says({ without }), 'honest', `${at.slice(one.root.length)} can only be read`);
    t.same(readdirSync(at), []);
    chmodSync(at, 0o700);
  }
});
