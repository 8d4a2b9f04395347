import t from 'tap';
import { pythonImports } from '../../../../engine/context/imports/python-imports.ts';

/** `..a.b: c d` */
function read(source: string): readonly string[] {
  return pythonImports(source).map(({ level, module, names }) =>
    `${'.'.repeat(level)}${module}: ${names.join(' ')}`.trim(),
  );
}

t.test('reads every form of Python import', async (t) => {
  for (const [source, ...imports] of [
    ['import a', 'a:'],
    ['import a.b as c, d', 'a.b:', 'd:'],
    ['from a import b', 'a: b'],
    ['from . import x', '.: x'],
    ['from .a import b as c, d', '.a: b d'],
    ['from ..a.b import c', '..a.b: c'],
    ['from .a import *', '.a:'],
    ['from a import (\n    b,  # first\n    c as d,\n)\nimport e', 'a: b c', 'e:'],
    ['from a import b, \\\n    c', 'a: b c'],
    ['from a import b, \\\r\n    c\r\nimport d', 'a: b c', 'd:'],
    ['try:\n    import a\nexcept ImportError: import b', 'a:', 'b:'],
    ['import a; import b', 'a:', 'b:'],
    ['"""doc"""\nimport a', 'a:'],
    ["x = '''\nimport no\n\\'''\n'''\nimport a", 'a:'],
  ] as const) {
    t.strictSame(read(source), imports, source);
  }
});

t.test('ignores text that only looks like an import', async (t) => {
  for (const source of [
    '# import a',
    '"import a"',
    '"""\nimport a\n"""',
    "'''\nfrom a import b\n'''",
    'yield from a',
    'raise X from e',
    'important = 1\nfromage = 2',
    'x.from_import = 1',
  ]) {
    t.strictSame(read(source), [], source);
  }
});
