import t from 'tap';
import { labelledRows, readSastCases, scoreRow } from '../../../bench/labelled-sast.ts';
import { judge } from '../../../gates/rules/sast.ts';
import { sastRows } from '../../../gates/sast/rows.ts';
import { type GateCase, toRuleInput } from '../../../testing.ts';

const ids = sastRows.map(({ id }) => id);

t.test('every SAST row classifies its labelled set correctly', async (t) => {
  t.strictSame([...labelledRows].sort(), [...ids].sort());
  for (const row of labelledRows) {
    const { cases, traps, wrong, missed } = await scoreRow(row);
    t.ok(traps >= 2 && cases - traps >= 2, `${row}: ${cases} cases, ${traps} traps`);
    t.strictSame({ wrong, missed }, { wrong: [], missed: [] }, row);
  }
});

t.test('every finding includes its row, its CWE and a safer alternative', async (t) => {
  for (const { id, cwe, severity, instead } of sastRows) {
    const hit = readSastCases(id).find(({ lines }) => lines.length > 0);
    if (!hit) continue;
    const [found] = await judge(toRuleInput({ name: id, files: { [hit.path]: { candidate: hit.code } } }));
    t.match(found, { rule: 'sast', severity, detail: { row: id, cwe: `CWE-${cwe}` } }, id);
    t.ok(found?.message.endsWith(instead), id);
  }
});

t.test('finds labelled weaknesses from the hunks alone, except for Java XML entities', async (t) => {
  const blind: string[] = [];
  for (const row of labelledRows) {
    for (const { name, path, code, lines } of readSastCases(row)) {
      if (lines.length === 0) continue;
      const input = toRuleInput({ name, files: { [path]: { base: '\n', candidate: code } } });
      const found = await judge({ ...input, files: {} });
      if (!found.some(({ detail }) => detail?.row === row)) blind.push(`${row}: ${name}`);
    }
  }
  // Whether something was set on the factory can stand outside the hunk.
  t.strictSame(
    blind.filter((one) => !one.startsWith('sast/java-xml-external-entities')),
    [],
  );
});

const later = (path: string, base: string, added: string): GateCase => ({
  name: path,
  files: { [path]: { base, candidate: base + added } },
});

t.test('reports only added lines and resolves names from unchanged lines', async (t) => {
  const gap = 'x = 1\n'.repeat(20);
  const old = later('a.py', `import pickle\npickle.loads(x)\n${gap}`, 'y = 2\n');
  t.strictSame(await judge(toRuleInput(old)), []);
  const used = later('a.py', `from pickle import loads as read\n${gap}`, 'read(body)\n');
  t.match(await judge(toRuleInput(used)), [
    { line: 22, detail: { row: 'sast/python-unsafe-deserialization' } },
  ]);
  for (const old of ['tempnam', 'tmpnam']) {
    const alias = later('a.py', `from os import ${old} as name\n${gap}`, "path = name('/tmp')\n");
    t.match(await judge(toRuleInput(alias)), [{ line: 22, detail: { row: 'sast/python-mktemp' } }], old);
  }
  const named = later(
    'a.js',
    `import { createCipher as make } from 'crypto';\n${'a();\n'.repeat(20)}`,
    'make(x, y);\n',
  );
  t.match(await judge(toRuleInput(named)), [
    { line: 22, detail: { row: 'sast/javascript-cipher-without-iv' } },
  ]);
  const base = 'requests.get(\n  url,\n  verify=True,\n)\n';
  const option = { name: 'x', files: { 'a.py': { base, candidate: base.replace('True', 'False') } } };
  t.match(await judge(toRuleInput(option)), [{ line: 3, detail: { row: 'sast/python-tls-unverified' } }]);
});

t.test('the config suppresses a row in named paths and keeps it listed as a note', async (t) => {
  const files = { 'test/a.py': { candidate: 'import pickle\npickle.loads(x)\n' } };
  const input = (allow: unknown, more: object = {}) => ({
    ...toRuleInput({ name: 'x', files }),
    options: { allow, ...more },
  });
  const row = 'sast/python-unsafe-deserialization';
  t.match(await judge(input([{ row, paths: ['test/**'] }])), [
    { severity: 'note', detail: { row, suppressed: true, reason: 'config' } },
  ]);
  t.match(await judge(input([{ row, paths: ['src/**'] }])), [{ severity: 'error', detail: { row } }]);
  t.match(await judge(input([{ row: 'sast/python-mktemp', paths: ['**'] }])), [{ severity: 'error' }]);
  const retired = [{ row: 'sast/javascript-html-sink', paths: ['**'] }];
  t.strictSame((await judge(input(retired))).length, 1, 'a retired row may still be named');
  for (const wrong of ['all', [row], [{ row }], [{ row, paths: [] }], [{ row: 'sast/none', paths: ['**'] }]])
    t.match(await judge(input(wrong)), [
      { severity: 'error', message: /rules\.sast/ },
      { severity: 'error' },
    ]);
  t.match(await judge(input([], { allows: [] })), [{ message: /`allows` is no option/ }, {}]);
  const marked = { 'a.py': { candidate: 'import pickle\npickle.loads(x)  # nosec  # noqa\n' } };
  t.match(
    await judge(toRuleInput({ name: 'x', files: marked })),
    [{ severity: 'error' }],
    'a marker allows nothing',
  );
});

t.test('source that cannot be analysed completely is an error', async (t) => {
  const binary = toRuleInput({ name: 'x', files: { 'a.py': { candidate: 'pickle.loads(\0x)\n' } } });
  t.match(await judge({ ...binary, files: {} }), [{ severity: 'error', detail: { incomplete: true } }]);
  const deep = `import pickle\nx = ${'('.repeat(100_000)}pickle.loads(y)\n`;
  const found = await judge(toRuleInput({ name: 'x', files: { 'a.py': { candidate: deep } } }));
  t.ok(found.some(({ severity }) => severity === 'error'));
  const many = `import pickle\n${'pickle.loads(x)\n'.repeat(700)}`;
  const all = await judge(toRuleInput({ name: 'x', files: { 'a.py': { candidate: many } } }));
  t.equal(all.length, 501);
  t.match(all.at(-1), { severity: 'error', detail: { incomplete: true } });
});
