import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { warning } from '../../core/interfaces/finding.ts';
import { maxViolations } from '../../spec/document-schema.ts';
import { inDocumentOrder, readIntentSpec } from '../../spec/read-intent-spec.ts';
import { bytesOf, type Json, put, sample, specFolder } from './sample.ts';

t.test('the digest covers the document as written, without its defaults or its layout', async (t) => {
  const document = sample('minimal');
  const read = readIntentSpec(bytesOf(document));
  const indented = readIntentSpec(Buffer.from(JSON.stringify(document, null, 4)));
  t.ok(read.ok && indented.ok);
  t.equal(read.digest, canonicalDigest(document));
  t.equal(indented.digest, read.digest);
  if (read.ok) t.not(canonicalDigest(read.effective), read.digest);
  put(document, ['intent', 'touchHints'], {});
  t.not(
    readIntentSpec(bytesOf(document)).digest,
    read.digest,
    'a default that the author writes is part of the document',
  );
});

t.test('an invalid document has a digest, a malformed one has none', async (t) => {
  t.type(readIntentSpec(Buffer.from('{}')).digest, 'string');
  const read = readIntentSpec(Buffer.from('{'));
  t.equal(read.digest, undefined);
  t.match(read, {
    ok: false,
    issues: [{ code: 'INTENTSPEC_MALFORMED', path: '', severity: 'error' }],
    malformed: { code: 'INTENTSPEC_MALFORMED' },
  });
});

t.test('every malformed fixture is refused without a throw', async (t) => {
  const folder = new URL('malformed/', specFolder);
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.raw'))) {
    t.match(
      readIntentSpec(readFileSync(new URL(name, folder))),
      { ok: false, malformed: { code: 'INTENTSPEC_MALFORMED' } },
      name,
    );
  }
});

t.test('issues are listed in the order of the text, whatever the order of its keys', async (t) => {
  const document = sample('minimal');
  put(document, ['intent', 'summary'], 'a\nb');
  put(document, ['metadata', 'target', 'labels'], { '10': 1, '9': 2 });
  put(document, ['kind'], 'x');
  const reversed = Object.fromEntries(Object.entries(document).reverse());
  const paths = (text: string): readonly string[] =>
    readIntentSpec(Buffer.from(text)).issues.map(({ code, path }) => `${code} ${path}`);
  const swap = (text: string): string => text.replace('"9":2,"10":1', '"10":1,"9":2');
  t.strictSame(paths(swap(JSON.stringify(document))), [
    'SCHEMA_CONST /kind',
    'SCHEMA_TYPE /metadata/target/labels/10',
    'SCHEMA_TYPE /metadata/target/labels/9',
    'SCHEMA_MIN_LENGTH /intent/summary',
    'SEMANTIC_CONTROL_CHARACTER /intent/summary',
  ]);
  t.strictSame(paths(JSON.stringify(reversed)), [
    'SCHEMA_MIN_LENGTH /intent/summary',
    'SEMANTIC_CONTROL_CHARACTER /intent/summary',
    'SCHEMA_TYPE /metadata/target/labels/9',
    'SCHEMA_TYPE /metadata/target/labels/10',
    'SCHEMA_CONST /kind',
  ]);
});

t.test('document order is found through escapes, nesting and keys that look like structure', async (t) => {
  const text = '{"a\\u002fb": [1, -2.5e3, true, null, "x,]}\\"", {"{": [[], {}]}],\n "[": {"~": 1}, "": 2}';
  const paths = [
    '/',
    '/[/~0',
    '/a~1b/5/{/1',
    '/a~1b/5/{/0',
    '/a~1b/4',
    '/a~1b/3',
    '/a~1b/2',
    '/a~1b/1',
    '/a~1b/0',
    '/a~1b',
    '',
  ];
  const issues = paths.map((path) => warning('X', path, ''));
  t.strictSame(
    inDocumentOrder(issues, text).map(({ path }) => path),
    [...paths].reverse(),
  );
  const missing = [warning('LAST', '/', ''), warning('CHILD', '/[/no/such', ''), warning('FIRST', '/no', '')];
  t.strictSame(
    inDocumentOrder(missing, text).map(({ code }) => code),
    ['FIRST', 'CHILD', 'LAST'],
  );
});

t.test('semantic rules run on the well-typed parts of an invalid document', async (t) => {
  const document = sample('typical');
  put(document, ['metadata', 'target', 'repo', 'locator'], 'nowhere');
  put(document, ['acceptance', 'verificationPlan', 'fastChecks', 0], 5);
  put(document, ['acceptance', 'verificationPlan', 'fastChecks', 1, 'id'], 'receipts');
  put(document, ['acceptance', 'verificationPlan', 'releaseChecks', 0, 'command'], 5);
  put(document, ['risk'], 'high');
  t.strictSame(
    readIntentSpec(bytesOf(document)).issues.map(({ code, path }) => `${code} ${path}`),
    [
      'SEMANTIC_LOCATOR_FORM /metadata/target/repo/locator',
      'SCHEMA_TYPE /acceptance/verificationPlan/fastChecks/0',
      'SEMANTIC_CHECK_ID_DUPLICATE /acceptance/verificationPlan/integrationChecks/0/id',
      'SCHEMA_TYPE /acceptance/verificationPlan/releaseChecks/0/command',
      'SCHEMA_TYPE /risk',
    ],
  );
});

t.test('no document throws with any value replaced or removed', async (t) => {
  let judged = 0;
  const visit = (document: Json, at: readonly (string | number)[]): void => {
    for (const value of [undefined, null, true, -1, '', 'text', [], [null], {}, { a: [] }]) {
      const broken = structuredClone(document) as { [key: string]: Json };
      put(broken, at, value as Json | undefined);
      readIntentSpec(bytesOf(broken));
      judged += 1;
    }
    let value: Json = document;
    for (const key of at) value = (value as { [key: string]: Json })[key] as Json;
    if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value)) visit(document, [...at, key]);
  };
  const document = sample('minimal');
  for (const key of Object.keys(document)) visit(document, [key]);
  t.ok(judged > 700, `${judged} documents`);
});

t.test('a document that is not an object is refused', async (t) => {
  for (const text of ['null', '1', '"text"', '[]', 'true']) {
    t.strictSame(
      readIntentSpec(Buffer.from(text)).issues.map(({ code, path }) => `${code} ${path}`),
      ['SCHEMA_TYPE '],
      text,
    );
  }
});

t.test('the number of violations is bounded, and the cut is reported', async (t) => {
  const document = sample('minimal');
  for (const list of [Array.from({ length: 30_000 }, () => 1), Array.from({ length: 10_000 }, () => ({}))]) {
    put(document, ['acceptance', 'verificationPlan', 'fastChecks'], list);
    const { ok, issues } = readIntentSpec(bytesOf(document));
    t.equal(ok, false);
    t.equal(issues.length, maxViolations + 1);
    t.equal(issues[0]?.code, 'SCHEMA_TOO_MANY_ISSUES');
  }
});

t.test('command problems are evaluated only for documents that match the schema', async (t) => {
  const problem = warning(
    'SEMANTIC_COMMAND_DENIED',
    '/acceptance/verificationPlan/fastChecks/0/command',
    'expected an allowed command',
  );
  const document = sample('minimal');
  put(document, ['extensions'], { plain: 1 });
  const asked: string[] = [];
  const commandProblems = (spec: { readonly metadata: { readonly id: string } }) => {
    asked.push(spec.metadata.id);
    return [problem];
  };
  const read = readIntentSpec(bytesOf(document), { commandProblems });
  t.ok(read.ok);
  t.strictSame(
    read.issues.map(({ code }) => code),
    ['SEMANTIC_COMMAND_DENIED', 'SEMANTIC_EXTENSION_KEY'],
  );
  put(document, ['kind'], 'x');
  readIntentSpec(bytesOf(document), { commandProblems });
  t.equal(asked.length, 1);
});

t.test('messages never repeat control characters of the document', async (t) => {
  const document = sample('minimal');
  put(document, ['intent', '\u001b[2Jkey`\u202e'], 1);
  put(
    document,
    ['evidence', 'allowedDomains'],
    ['\u001b[31m bad \u2066', `${'x'.repeat(300)}`.slice(0, 256)],
  );
  put(document, ['metadata', 'target', 'baseRef'], '\u0007~');
  const { issues } = readIntentSpec(bytesOf(document));
  t.ok(issues.length >= 3);
  for (const { message } of issues) t.notMatch(message, /[\u0000-\u001f\u007f\u202e\u2066]/);
});
