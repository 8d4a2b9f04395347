import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scannedChecks } from '../../../bin/report/human.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { makeBranches } from '../../attack/policy/branches.ts';
import { type Json, merge } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { type PinnedTool, pinnedTool } from './pinned-tool.ts';

const spec = { intent: { changeType: 'refactor', inScope: ['**'] } };
const moved =
  '// A line above moves the old result.\n\nexport function old(value) {\n  return  danger(value);\n}\n';
const scanOf = ({ stages }: RunView) =>
  stages.flatMap(({ checks }) => checks).find(({ id }) => id === 'scanner-line-scanner');

const lines = 'version = "1.2.3"\nrules = ["scan-words.txt"]\n';

/** A repository with an old result, and a scanner that is pinned there; `own` are others. */
async function scanned(t: Test, own?: readonly PinnedTool[]) {
  const tools = own ?? [await pinnedTool(t, 'line-scanner', ['TOOL/scan.mjs'], lines)];
  const made = makeBranches(t);
  const { sample, write } = made;
  write('scan-words.txt', 'danger\n');
  write('src/old.js', 'export function old(value) {\n  return danger(value);\n}\n');
  write('.writ/config.toml', tools.map(({ table }) => table).join('\n'));
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Pins a scanner');
  sample.git('checkout', '--quiet', '-b', 'work');
  const change = async (files: Readonly<Record<string, string>>, more: Json = {}) => {
    sample.git('checkout', '--quiet', 'work');
    sample.git('reset', '--quiet', '--hard', 'main');
    for (const [path, text] of Object.entries(files)) write(path, text);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Changes files\n\nThey are other files now.');
    sample.git('checkout', '--quiet', 'main');
    return sample.run({ source: { kind: 'range', range: 'main..work' } }, merge(spec, more));
  };
  return { ...made, place: tools[0]?.place ?? '', change };
}

t.test(
  'a scanner refuses what is new, keeps what is old, and cannot be switched off by the change',
  async (t) => {
    const { sample, change } = await scanned(t);
    const view = await change({
      'src/old.js': moved,
      'src/new.js': 'export const fresh = (value) => danger(value);\n',
      'scan-words.txt': 'harmless\n',
    });
    t.equal(view.decision?.type, 'abandon');
    const check = scanOf(view);
    t.match(check, {
      status: 'failed',
      fromPolicy: true,
      scan: {
        name: 'line-scanner',
        tool: 'line-scanner',
        version: '1.2.3',
        results: { new: 1, unchanged: 1, absent: 0, ignored: 0 },
        reports: { base: /^[0-9a-f]{64}$/, candidate: /^[0-9a-f]{64}$/ },
      },
      findings: [{ rule: 'scanner', severity: 'error', path: 'src/new.js', line: 1 }],
    });
    t.strictSame(
      check?.scan?.inputs.map(({ path }) => path.split('/').at(-1)),
      [check?.scan?.inputs[0]?.path.split('/').at(-1), 'node', 'scan-words.txt'],
    );
    const cached = readdirSync(join(sample.root, '.git/writ/cache/scans'));
    t.equal(cached.length, 1, 'the report at the base is kept');
  },
);

long('a scanner supplies `sast-report`, and evidence, provenance and `writ show` name it', async (t) => {
  const { sample, change } = await scanned(t);
  const spec = {
    acceptance: {
      verificationPlan: {
        securityChecks: [
          { id: 'sast', kind: 'policy', command: 'sast', required: true, artifactsProduced: ['sast-report'] },
          { id: 'sca', kind: 'policy', command: 'sca', required: false, artifactsProduced: ['sca-report'] },
          { id: 'sbom', kind: 'policy', command: 'sbom', required: false, artifactsProduced: ['sbom'] },
        ],
      },
    },
    artifacts: {
      required: [
        { name: 'patchset', stage: 'per-task', required: true },
        { name: 'test-log', stage: 'per-task', required: true },
        { name: 'sast-report', stage: 'security', required: true, format: 'sarif' },
        { name: 'sca-report', stage: 'release', required: false },
        { name: 'sbom', stage: 'release', required: false },
      ],
    },
  };
  const view = await change({ 'src/old.js': moved, 'docs/note.md': 'A note.\n' }, spec);
  t.equal(
    view.decision?.type,
    'commit',
    JSON.stringify([view.findings, view.stages.map((one) => one.findings)]),
  );
  t.match(scanOf(view), { status: 'passed', exitCode: 1, scan: { results: { new: 0, unchanged: 1 } } });
  const report = view.artifacts.find(({ name }) => name === 'sast-report');
  t.equal(report?.sha256, scanOf(view)?.scan?.reports.candidate);
  const tree = `refs/ai/runs/${view.runId}`;
  const paths = sample.git('ls-tree', '-r', '--name-only', tree).split('\n');
  const path = paths.find((name) => name.endsWith('-scanner-line-scanner.json'));
  const scan = { name: 'line-scanner', tool: 'line-scanner', version: '1.2.3', results: { unchanged: 1 } };
  t.match(JSON.parse(sample.git('show', `${tree}:${path}`)), { check_id: 'scanner-line-scanner', scan });
  t.match(scannedChecks(view.stages), [
    ['scanner-line-scanner', /^line-scanner 1\.2\.3: 0 new, 1 unchanged/],
  ]);
  const bundle = JSON.parse(sample.git('show', `${tree}:provenance.sigstore.json`));
  const statement = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8');
  t.match(statement, 'urn:writ:scanner:line-scanner');
});

long('what a scanner could not inspect, and a program that is not the pinned one, never pass', async (t) => {
  const { place, change } = await scanned(t);
  const unread = await change({ 'src/unreadable.js': 'x\n' });
  t.equal(unread.decision?.type, 'abandon');
  t.match(scanOf(unread)?.findings, [
    { rule: 'scanner', severity: 'error', detail: { code: 'SCAN_UNFINISHED' } },
  ]);
  appendFileSync(join(place, 'scan.mjs'), '\n');
  await t.rejects(change({ 'src/new.js': 'x\n' }), {
    code: 'SCANNER_CHANGED',
    detail: { scanner: 'line-scanner' },
  });
});

long(
  'a change that brings another scanner script is scanned by the script of the policy commit, too',
  async (t) => {
    const own = await pinnedTool(t, 'line-scanner', ['tools/scan.mjs']);
    const { sample, write, change } = await scanned(t, [own]);
    sample.git('checkout', '--quiet', 'main');
    write('tools/scan.mjs', readFileSync(join(own.place, 'scan.mjs'), 'utf8'));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'A scanner in the repository');
    const silent = { version: '2.1.0', runs: [{ tool: { driver: { name: 'silent' } }, results: [] }] };
    const view = await change({
      'tools/scan.mjs': `console.log(${JSON.stringify(JSON.stringify(silent))});\n`,
      'src/new.js': 'export const fresh = (value) => danger(value);\n',
    });
    t.equal(view.decision?.type, 'abandon');
    t.match(
      scanOf(view)?.findings.filter(({ severity }) => severity === 'error'),
      [{ rule: 'scanner', path: 'src/new.js', message: /with the verification inputs of the policy commit/ }],
      JSON.stringify([view.findings, scanOf(view)]),
    );
  },
);

long('eslint and secretlint run as scanners', async (t) => {
  const eslint = await pinnedTool(
    t,
    'eslint',
    [
      'TOOL/node_modules/eslint/bin/eslint.js',
      '--no-inline-config',
      '--config=TOOL/eslint.config.mjs',
      '--format=TOOL/to-sarif.mjs',
      '--output-file=$REPORTS_DIR/eslint.sarif',
      'src',
    ],
    'version = "10.15.0"\nreport = "eslint.sarif"\n',
    ['eslint', 'eslint-plugin-security'],
  );
  const secretlint = await pinnedTool(
    t,
    'secretlint',
    [
      'TOOL/node_modules/secretlint/bin/secretlint.js',
      '--secretlintrc=TOOL/secretlintrc.json',
      '--format=@secretlint/secretlint-formatter-sarif',
      '**/*',
    ],
    'fail_on = "error"\n',
    ['secretlint', '@secretlint/secretlint-rule-preset-recommend', '@secretlint/secretlint-formatter-sarif'],
  );
  const { sample, write, change } = await scanned(t, [eslint, secretlint]);
  const token = `ghp_${'0123456789abcdefghij'.toUpperCase()}ABCDEFabcdef0123`;
  sample.git('checkout', '--quiet', 'main');
  write(
    'src/old.js',
    `export const old = "${token}";\nexport function run(text) {\n  return eval(text);\n}\n`,
  );
  write('.writ/config.toml', [eslint, secretlint].map(({ table }) => table).join('\n'));
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Old faults');
  const refused = await change({
    'src/new.js': 'export function both(a, b) {\n  return new RegExp(a + b);\n}\n',
  });
  const [first, second] = ['eslint', 'secretlint'].map((name) =>
    refused.stages.flatMap(({ checks }) => checks).find(({ id }) => id === `scanner-${name}`),
  );
  t.match(first, {
    status: 'failed',
    scan: { tool: 'ESLint', version: '10.15.0', results: { new: 1, unchanged: 1 } },
    findings: [{ path: 'src/new.js', line: 2, detail: { id: 'security/detect-non-literal-regexp' } }],
  });
  t.match(second, { status: 'passed', scan: { tool: 'secretlint', results: { new: 0, unchanged: 1 } } });
});
