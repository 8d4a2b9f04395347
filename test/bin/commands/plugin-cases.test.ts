import t, { type Test } from 'tap';
import {
  parseArtifactCases,
  parseEvidenceCases,
  parseGateCases,
  parseLogCase,
  parseProviderCases,
  parseStageCheckCases,
} from '../../../bin/plugin/cases/parse-cases.ts';
import { scaffolds } from '../../../bin/plugin/scaffolds.ts';
import { requireCaseNames } from '../../../bin/plugin/suites.ts';
import { toPluginPackage } from '../../../plugins/third-party/plugin-package.ts';

const sound = { name: 'a', lines: [{ text: 'x' }], expect: { text: 'x' } };

t.test('a fault in provider cases is reported with its case and member', async (t) => {
  t.strictSame(parseProviderCases([sound]), [sound]);
  for (const [change, found] of [
    [{ text: 'two' }, /got lines and text/],
    [{ status: 99 }, /`status` to be a number from 200 to 599, got `99`/],
    [{ status: '200' }, /`status` to be a number .* got string/],
    [{ expect: { end: 'over' } }, /`expect`: expected `end` to be one of stop, calls/],
    [{ expect: { failure: { kind: 'busy' } } }, /`failure`: expected `kind` to be one of key-refused/],
    [{ expect: { usage: { input: 1, output: '2' } } }, /`usage`: expected `output` to count from 0/],
    [{ wire: { paht: '/' } }, /the unknown field `paht`/],
  ] as const) {
    t.throws(() => parseProviderCases([{ ...sound, ...change }]), { message: found });
    t.throws(() => parseProviderCases([{ ...sound, ...change }]), { message: /^case `a`: / });
  }
  const { lines: _, ...bodiless } = sound;
  t.throws(() => parseProviderCases([{ ...bodiless, events: 'x' }]), /`events`: expected a list, got string/);
  t.throws(() => parseProviderCases([bodiless]), /expected one body .* got none/);
  t.throws(() => parseProviderCases([sound, sound]), /case `a`: expected a `name` of its own/);
});

type Faults = readonly (readonly [change: object, found: RegExp])[];

const ofFiles: Faults = [
  [{ files: { 'a.js': { base: 1 } } }, /^case `a`: `files`: `a.js`: expected `base` to be text/],
  [{ files: { 'a.js': { was: '' } } }, /`files`: `a.js`: .* unknown field `was`/],
  [{ spec: { intent: { sumary: 'x' } } }, /`spec\/intent`: expected no field `sumary`/],
  [{ spec: { risk: { level: 'grave' } } }, /`spec\/risk\/level`: expected enum/],
  [{ spec: { intent: { summary: 7 } } }, /`spec\/intent\/summary`: expected type "string"/],
  [{ name: 7 }, /^case 1: expected `name` to be text/],
  [{ more: 1 }, /^case `a`: .* unknown field `more`/],
];

function faults(t: Test, parse: (cases: unknown) => unknown, sound: object, table: Faults): void {
  parse([sound]);
  for (const [change, message] of table)
    t.throws(() => parse([{ ...sound, ...change }]), { message }, JSON.stringify(change));
  t.throws(() => parse([sound, sound]), /case `a`: expected a `name` of its own/);
}

t.test('a fault in rule cases is reported with its case and member', async (t) => {
  const parse = (invalid: unknown) => parseGateCases({ valid: [], invalid });
  const table: Faults = [
    ...ofFiles.map(([change, { source }]): Faults[number] => [
      change,
      new RegExp(source.replace('^', '^`invalid`: ')),
    ]),
    [{ expect: [{ severity: 'bad' }] }, /`expect`: expected `severity` to be one of error, warning, note/],
    [{ expect: [{ lines: 1 }] }, /`expect`: .* unknown field `lines`/],
    [{ expect: [{ line: 0 }] }, /`expect`: expected `line` to count from 1/],
    [{ args: 'x' }, /`args`: expected a list/],
    [{ options: [] }, /an object `options`/],
    [{ stage: { name: 'late', checks: [] } }, /`stage`: expected `name` to be one of fast/],
    [{ approvalGroups: { a: ['b', 1] } }, /`approvalGroups`: expected `a` to be text/],
  ];
  faults(t, parse, { name: 'a' }, table);
  t.throws(() => parseGateCases({ valid: [], invald: [] }), /unknown field `invald`/);
});

t.test('a fault in stage check cases is reported with its case and member', async (t) => {
  const parse = (cases: unknown) => parseStageCheckCases('x', { cases });
  faults(t, parse, { name: 'a', expect: [] }, [
    ...ofFiles,
    [{ stage: 'late' }, /`stage` to be one of fast/],
    [{ expect: undefined }, /`expect`: expected a list/],
    [{ expect: [{ rule: 'y' }] }, /`expect`: .* unknown field `rule`/],
    [{ answer: { status: '200' } }, /`answer`: expected `status` to be a number from 200 to 599, got string/],
    [{ answer: { headers: { a: 1 } } }, /`answer`: `headers`: expected `a` to be text/],
    [{ answer: { body: '' } }, /`answer`: .* unknown field `body`/],
    [{ checks: [{ name: 'x' }] }, /`checks`: .* unknown field `name`/],
    [{ checks: [{ required: 'yes' }] }, /`checks`: expected `required` to be true or false, got string/],
    [
      { checks: [{ tests: { passed: -1, failed: 0, skipped: 0 } }] },
      /`tests`: expected `passed` to count from 0/,
    ],
    [{ findings: [{ line: 'x' }] }, /`findings`: expected `line` to count from 1/],
    [{ artifacts: [{ sizeBytes: '1' }] }, /`artifacts`: expected `sizeBytes` to be a number/],
    [{ wire: { paht: '/' } }, /`wire`, got the unknown field `paht`/],
  ]);
  t.throws(() => parseStageCheckCases('x', { case: [] }), /an object `x`, got the unknown field `case`/);
});

t.test('a fault in artifact or evidence policy cases is reported with its case and member', async (t) => {
  faults(t, parseArtifactCases, { name: 'a', expect: { unmade: 'x' } }, [
    ...ofFiles,
    [{ expect: {} }, /`expect`: expected `includes`, `json` or `unmade`, got none/],
    [{ expect: { include: ['x'] } }, /`expect`: .* unknown field `include`/],
    [{ expect: { includes: [1] } }, /`expect`: expected `includes` to be text/],
    [{ stages: [{ stage: 'late' }] }, /`stages`: expected `stage` to be one of fast/],
  ]);
  faults(t, parseEvidenceCases, { name: 'a', expect: {} }, [
    [{ source: { tier: 'web' } }, /`source`: .* unknown field `tier`/],
    [{ source: { trustTier: 'net' } }, /`source`: expected `trustTier` to be one of repo/],
    [{ source: { isAllowedHost: 'yes' } }, /`source`: expected `isAllowedHost` to be true or false/],
    [{ soFar: {} }, /`soFar`: expected `repositoryUses` to count from 0/],
    [{ soFar: { repositoryUses: 1 }, source: {} }, /one of `source` and `soFar`, got both/],
    [{ expect: { order: 'first' } }, /`expect`: expected `order` to count from 0/],
    [{ more: 1 }, /^case `a`: .* unknown field `more`/],
  ]);
});

t.test('a fault in a log case is reported with its member', async (t) => {
  const wire = { append: { path: '/add', json: { r: '$root' } }, size: { path: '/size', json: '$size' } };
  t.strictSame(parseLogCase('x', wire), { wire, options: {} });
  for (const [change, message] of [
    [{ apend: {} }, /an object `x`, got the unknown field `apend`/],
    [{ append: { path: 'add', json: '$root' } }, /`append`: expected `path` to begin with `\/`/],
    [{ append: { path: '/add', json: { r: '$rootHash' } } }, /`append`: `json`: .* got `\$rootHash`/],
    [{ append: { path: '/add', json: {} } }, /`append`: `json`: expected at least one of \$index/],
    [{ append: { path: '/add', field: 1, json: '$root' } }, /`append`: expected `field` to be text/],
    [{ size: { path: '/size', json: '$root' } }, /`size`: `json`: expected one of \$size, got `\$root`/],
    [{ size: undefined }, /`size`: expected an object/],
    [{ options: 'x' }, /an object `options`/],
  ] as const)
    t.throws(() => parseLogCase('x', { ...wire, ...change }), { message }, JSON.stringify(change));
  const consistency = { path: '/c/$from/$to', json: ['$pathHex'] };
  t.strictSame(parseLogCase('x', { ...wire, consistency }, true).wire, { ...wire, consistency });
  t.throws(() => parseLogCase('x', { ...wire, consistency }), { message: /unknown field `consistency`/ });
  for (const [given, message] of [
    [undefined, /expected an object, as the manifest says `consistency`/],
    [{ ...consistency, path: '/c/$from' }, /`consistency`: expected `path` to hold `\$from` and `\$to`/],
    [{ ...consistency, json: '$root' }, /`consistency`: `json`: expected one of \$path, \$pathHex/],
  ] as const)
    t.throws(() => parseLogCase('x', { ...wire, consistency: given }, true), { message });
});

t.test('the cases of every scaffold parse, and cases for an unknown name are refused', async (t) => {
  for (const [kind, scaffold] of Object.entries(scaffolds)) {
    const text = scaffold('one').get('cases.json') ?? '';
    const given = JSON.parse(text).one;
    const readers: Record<string, (cases: unknown) => unknown> = {
      gate: parseGateCases,
      provider: parseProviderCases,
      log: (one) => parseLogCase('one', one, true),
      'stage-check': (one) => parseStageCheckCases('one', one),
      artifact: parseArtifactCases,
      evidence: parseEvidenceCases,
    };
    t.ok(readers[kind]?.(given), kind);
    const made = toPluginPackage([['cases.json', Buffer.from(text)]], 'x');
    requireCaseNames(made, 'x', ['one']);
    t.throws(() => requireCaseNames(made, 'x', ['other']), {
      code: 'PLUGIN_INVALID',
      message: /`cases.json`: expected cases of what the plugin brings \(`other`\), got `one`/,
    });
  }
  const cut = toPluginPackage([['cases.json', Buffer.from('{\n"one": [\n')]], 'x');
  t.throws(() => requireCaseNames(cut, 'x', ['one']), {
    message: /`cases.json`: .* at line 3, column 1$/,
    detail: { plugin: 'x', file: 'cases.json', line: 3, column: 1 },
  });
});
