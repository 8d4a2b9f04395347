import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { type ErrorEntry, errorCatalogue } from '../core/base/error-codes.ts';
import { isWritError, messageOf, WritError } from '../core/base/errors.ts';
import { generateErrorPage } from '../scripts/gen-errors.ts';

const root = dirname(import.meta.dirname);
const entries: readonly (readonly [string, ErrorEntry])[] = Object.entries(errorCatalogue);

/** Codes that no source names, although it could be thrown only by naming it. */
function unusedCodes(codes: readonly string[], sources: readonly string[]): readonly string[] {
  const named = new Set(
    sources.flatMap((source) => source.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g) ?? []),
  );
  return codes.filter((code) => !named.has(code));
}

t.test('docs/reference/errors.md is up to date with the error catalogue', async (t) => {
  t.equal(
    readFileSync(join(root, 'docs/reference/errors.md'), 'utf8'),
    generateErrorPage(),
    'run `npm run gen`',
  );
});

t.test('the error page lists every code once, with exit code, status and hint', async (t) => {
  const page = generateErrorPage();
  for (const [code, { exit, http, hint = '' }] of entries) {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${code}\` |`));
    t.equal(rows.length, 1, code);
    t.ok(rows[0]?.endsWith(`| ${hint} | ${exit} | ${http} |`), code);
  }
  const odd = generateErrorPage({ X: { family: 'internal', message: 'a | b', http: 500, exit: 70 } });
  t.match(odd, '| `X` | a \\| b |  | 70 | 500 |');
  t.notMatch(odd, '130', 'exit codes that nothing uses are not listed');
});

t.test('every error code is used by a source file', async (t) => {
  const sources = globSync(
    [
      '{core,spec,workspace,store,engine,readers,plugins,providers,agent,gates,attest,api,http,service,session,bin}/**/*.ts',
      'bin/writ.js',
    ],
    {
      cwd: root,
    },
  )
    .filter((path) => path !== 'core/base/error-codes.ts')
    .map((path) => readFileSync(join(root, path), 'utf8'));
  t.ok(sources.length > 50);
  const codes = entries.map(([code]) => code);
  for (const code of unusedCodes(codes, sources)) t.fail(`\`${code}\` is in the catalogue and nowhere else`);
  t.strictSame(
    unusedCodes(['SOME_CODE', 'NO_CODE'], ["throw new WritError('SOME_CODE')", 'NO_CODE_AT_ALL']),
    ['NO_CODE'],
  );
});

t.test('codes, messages and hints follow the style rules', async (t) => {
  for (const [code, { message, hint, http }] of entries) {
    t.match(code, /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/);
    for (const text of hint === undefined ? [message] : [message, hint]) {
      t.match(text, /^(?:[a-z]|`|CI |HTTP )/, `${code}: lower case`);
      t.notMatch(text, /[.!]$|\n/, `${code}: no full stop`);
      t.equal((text.match(/`/g) ?? []).length % 2, 0, `${code}: input in backticks`);
    }
    t.ok(http >= 200 && http < 600, code);
  }
});

t.test('an error has the defaults of its catalogue entry unless it is given its own values', async (t) => {
  const cause = new Error('inner');
  const plain = new WritError('RUN_NOT_FOUND');
  t.match(plain, {
    code: 'RUN_NOT_FOUND',
    message: errorCatalogue.RUN_NOT_FOUND.message,
    detail: {},
    exitCode: 1,
  });
  t.strictSame(plain.hints, [errorCatalogue.RUN_NOT_FOUND.hint]);
  t.notOk('cause' in plain);
  const full = new WritError('INTERNAL', { message: 'm', detail: { a: 1 }, hints: ['h'], cause });
  t.match(full, { name: 'WritError', message: 'm', detail: { a: 1 }, hints: ['h'], exitCode: 70 });
  t.equal(full.cause, cause);
  t.ok(isWritError(full) && isWritError(full, 'INTERNAL'));
  t.notOk(isWritError(full, 'USAGE') || isWritError(cause) || isWritError({ code: 'INTERNAL' }));
  t.equal(messageOf(full), 'm');
  t.equal(messageOf('text'), 'text');
});
