import t from 'tap';
import { changedHashes } from '../../../readers/packages/new-dependencies.ts';
import { readDependencies } from '../../../readers/packages/read-dependencies.ts';
import { filesOf } from './read-fixture.ts';

const sri = (byte: number, size = 64): string =>
  `${size === 64 ? 'sha512' : 'sha1'}-${Buffer.alloc(size, byte).toString('base64')}`;
const hex = (digit: string): string => `sha256:${digit.repeat(64)}`;

function hashes(path: string, base: string, candidate: string): readonly string[] {
  const [before, after] = [base, candidate].map((text) => readDependencies(filesOf({ [path]: text })));
  t.strictSame([before?.problems, after?.problems], [[], []], path);
  return changedHashes(before?.readings ?? [], after?.readings ?? []).map(
    ({ name, version, is }) => `${name} ${version} ${is}`,
  );
}

const npm = (...entries: readonly object[]): string =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(
      entries.map((entry, at) => [
        `${at === 0 ? '' : `node_modules/x${at}/`}node_modules/a`,
        { version: '1.0.0', ...entry },
      ]),
    ),
  });
const uv = (wheels: readonly string[]): string =>
  `version = 1\n[[package]]\nname = "a"\nversion = "1.0.0"\nsource = { registry = "https://pypi.org/simple" }\nwheels = [\n${wheels.map((hash) => `  { url = "https://x.example/a.whl"${hash === '' ? '' : `, hash = "${hash}"`} },\n`).join('')}]\n`;
const cargo = (checksum: string): string =>
  `version = 3\n[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n${checksum === '' ? '' : `checksum = "${checksum}"\n`}`;
const berry = (checksum: string): string =>
  `__metadata:\n  version: 8\n\n"a@npm:1":\n  version: 1.0.0\n  resolution: "a@npm:1.0.0"\n${checksum}  languageName: node\n`;
const gone = ['a 1.0.0 gone'];
const another = ['a 1.0.0 another'];

t.test('reports a version that loses its hash or gets another', async (t) => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['package-lock.json', npm({ integrity: sri(1) }), npm({}), gone],
    ['package-lock.json', npm({ integrity: sri(1) }), npm({ integrity: 'sha512-x' }), gone],
    [
      'package-lock.json',
      npm({ integrity: sri(1) }, { integrity: sri(1) }),
      npm({ integrity: sri(1) }, {}),
      gone,
    ],
    ['package-lock.json', npm({ integrity: sri(1) }), npm({ integrity: sri(2) }), another],
    ['uv.lock', uv([hex('a')]), uv(['']), gone],
    ['Cargo.lock', cargo('a'.repeat(64)), cargo(''), gone],
    ['yarn.lock', berry('  checksum: 10/aa\n'), berry(''), gone],
    ['requirements.txt', `a==1.0.0 --hash=${hex('a')}\n`, 'a==1.0.0\n', gone],
    [
      'Pipfile.lock',
      `{"default":{"a":{"version":"==1.0.0","hashes":["${hex('a')}","${hex('b')}"]}}}`,
      '{"default":{"a":{"version":"==1.0.0"}}}',
      gone,
    ],
  ];
  for (const [path, base, candidate, expected] of rows)
    t.strictSame(hashes(path, base, candidate), expected, path);
});

t.test('ignores a new version, a stronger algorithm, more files and a bundled copy', async (t) => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['package-lock.json', npm({ integrity: sri(1) }), npm({ version: '2.0.0' })],
    ['package-lock.json', npm({ integrity: sri(1, 20) }), npm({ integrity: sri(1) })],
    ['package-lock.json', npm({ integrity: sri(1) }), npm({ integrity: sri(1) }, { inBundle: true })],
    ['package-lock.json', npm({ integrity: sri(1) }, { integrity: sri(1) }), npm({ integrity: sri(1) })],
    ['package-lock.json', npm({}), npm({ integrity: sri(1) })],
    ['uv.lock', uv([hex('a')]), uv([hex('a'), hex('b')])],
    ['yarn.lock', berry('  checksum: 8/aa\n'), berry('  checksum: 10/bb\n')],
  ];
  for (const [path, base, candidate] of rows) t.strictSame(hashes(path, base, candidate), [], path);
});
