import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scannedChecks } from '../../../bin/report/observed-checks.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { digestDirectory } from '../../../engine/vcs/directory-digest.ts';
import { makeBranches } from '../../attack/policy/branches.ts';
import { type Json, merge } from '../../engine/run/sample.ts';
import { long } from '../../rooms/long.ts';

const fixture = new URL('../../../fixtures/scanners/line-scanner', import.meta.url).pathname;
const node = createHash('sha256')
  .update(readFileSync(realpathSync(process.execPath)))
  .digest('hex');

const spec = { intent: { changeType: 'refactor', inScope: ['**'] } };
const moved =
  '// A line above moves the old result.\n\nexport function old(value) {\n  return  danger(value);\n}\n';
const scanOf = ({ stages }: RunView) =>
  stages.flatMap(({ checks }) => checks).find(({ id }) => id === 'scanner-lines');

/** A repository with an old result, and a scanner that is pinned there; `more` are further lines of its table. */
async function scanned(t: Test, more = '') {
  const tool = realpathSync(t.testdir());
  cpSync(fixture, tool, { recursive: true });
  const digest = await digestDirectory(tool, { within: tool, maxEntries: 10, maxBytes: 100_000 });
  const made = makeBranches(t);
  const { sample, write } = made;
  write('scan-words.txt', 'danger\n');
  write('src/old.js', 'export function old(value) {\n  return danger(value);\n}\n');
  write(
    '.writ/config.toml',
    `[scanner.lines]
argv = ["node", "${tool}/scan.mjs"]
sha256 = "${node}"
version = "1.2.3"
format = "sarif"
stage = "fast"
rules = ["scan-words.txt"]
${more}
[[scanner.lines.read_only]]
path = "${tool}"
sha256 = "${'sha256' in digest ? digest.sha256 : ''}"
`,
  );
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
  return { ...made, tool, change };
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
        name: 'lines',
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
  const path = paths.find((name) => name.endsWith('-scanner-lines.json'));
  const scan = { name: 'lines', tool: 'line-scanner', version: '1.2.3', results: { unchanged: 1 } };
  t.match(JSON.parse(sample.git('show', `${tree}:${path}`)), { check_id: 'scanner-lines', scan });
  t.match(scannedChecks(view.stages), [['scanner-lines', /^line-scanner 1\.2\.3: 0 new, 1 unchanged/]]);
  const bundle = JSON.parse(
    sample.git('show', `${tree}:${paths.find((name) => name.endsWith('bundle.json'))}`),
  );
  const statement = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8');
  t.match(statement, 'urn:writ:scanner:lines');
});

long('what a scanner could not inspect, and a program that is not the pinned one, never pass', async (t) => {
  const { sample, tool, change } = await scanned(t);
  const unread = await change({ 'src/unreadable.js': 'x\n' });
  t.equal(unread.decision?.type, 'abandon');
  t.match(scanOf(unread)?.findings, [
    { rule: 'scanner', severity: 'error', detail: { code: 'SCAN_UNFINISHED' } },
  ]);
  appendFileSync(join(tool, 'scan.mjs'), '\n');
  await t.rejects(change({ 'src/new.js': 'x\n' }), { code: 'SCANNER_CHANGED', detail: { scanner: 'lines' } });
  t.ok(sample.root);
});
