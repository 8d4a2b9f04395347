import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { codeLines } from '../../scripts/coverage-map/code-lines.ts';
import {
  fromRanges,
  readCoverageMap,
  toRanges,
  writeCoverageMap,
} from '../../scripts/coverage-map/coverage-map.ts';
import { executedCharacters, executedLines } from '../../scripts/coverage-map/executed-lines.ts';

t.test('counts only lines of code, not types, comments or lone braces', async (t) => {
  const text = [
    "import type { A } from './a.ts';",
    '/** Says it. */',
    'interface B {',
    '  readonly c: string;',
    '}',
    'export function f(a: A): B {',
    '  // Why.',
    "  return { c: '' };",
    '}',
  ].join('\n');
  t.strictSame(codeLines('f.ts', text), [6, 8]);
});

t.test('an inner range overrides the outer one, and a partly executed line counts as run', async (t) => {
  const text = 'f();\nif (a) {\n  b();\n}\n';
  const at = text.indexOf('{');
  const ran = executedCharacters(text.length, {
    url: '',
    functions: [
      {
        ranges: [
          { startOffset: 0, endOffset: text.length, count: 1 },
          { startOffset: at, endOffset: text.indexOf('}') + 1, count: 0 },
        ],
      },
    ],
  });
  t.strictSame(executedLines(text, ran), [1, 2]);
});

t.test('reads a coverage map back as written and a missing one as empty', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'writ-map-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'below', 'map.json');
  t.strictSame(readCoverageMap(path), { sources: {}, tests: {} });
  const map = {
    sources: { 'a.ts': 'digest' },
    tests: {
      'test/a.test.ts': { digest: 'd', passed: true, seconds: 1.5, lines: { 'a.ts': [1, 2, 3, 7] } },
    },
  };
  writeCoverageMap(path, map);
  t.strictSame(readCoverageMap(path), map);
  t.equal(toRanges([1, 2, 3, 7]), '1-3,7');
  t.strictSame(fromRanges(''), []);
});
