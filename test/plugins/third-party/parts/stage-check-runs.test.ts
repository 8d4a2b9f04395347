import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../../bin/command-table.ts';
import { stageCheckScaffold } from '../../../../bin/plugin/scaffolds.ts';
import { leadTo } from '../../../../bin/plugin/suites.ts';
import type { RunView } from '../../../../core/interfaces/run-view.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { runLine } from '../../../bin/host.ts';
import { fixtures, type Json, makeSample } from '../../../engine/sample.ts';
import { casesOf, long } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(300_000);

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const token = 'tok-canary-0123456789';
const ticket = { intent: { summary: 'PAY-7: exact prices' } };

/** A repository whose policy commit lists the plugin of the page, `edit`ed, and a ticket system that answers this. */
async function scene(
  t: Test,
  answer: unknown,
  edit: (text: string, path: string) => string = (text) => text,
  spec: Json = ticket,
) {
  const tickets = await serveModel((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  t.teardown(() => tickets[Symbol.asyncDispose]());
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const place = join(sample.root, 'tools/linked-ticket');
  for (const [path, text] of stageCheckScaffold('linked-ticket')) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), edit(text, path));
  }
  const { digest } = await readDirectory(place);
  mkdirSync(join(sample.root, '.writ'));
  const entry = `[[plugins]]\npath = "tools/linked-ticket"\ndigest = "sha256:${digest}"\noptions = { url = "http://linked-ticket.example" }\n`;
  writeFileSync(join(sample.root, '.writ/config.toml'), entry);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A stage check');
  const pluginAccess = {
    trusts: async (one: string) => one === digest,
    find: async () => undefined,
    secret: handing({ LINKED_TICKET_TOKEN: token }),
  };
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix }, pluginAccess, outside: leadTo(() => tickets.port) },
    spec,
  );
  const writ = async (...argv: string[]) => {
    const ran = await runLine(['--json', ...argv], commands, { cwd: sample.root, env: sample.env });
    return { ...ran, ...JSON.parse(ran.out) };
  };
  return { sample, tickets, digest, view, place, writ };
}

const found = (view: RunView) =>
  view.stages.flatMap(({ stage, findings }) => findings.map((one) => ({ stage, ...one })));
const ours = (view: RunView) => found(view).filter(({ rule }) => rule === 'linked-ticket');
const stored = (sample: { git(...args: string[]): string }): string =>
  sample
    .git('for-each-ref', '--format=%(refname)', 'refs/ai')
    .split('\n')
    .map((ref) => sample.git('grep', '--text', '-h', '-e', '.', ref))
    .join('\n');

long('a change that a stage check passes is committed, and replays without calling it again', async (t) => {
  const { sample, tickets, digest, view, place, writ } = await scene(t, { state: 'approved' });
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
  t.strictSame(ours(view), []);
  t.strictSame(
    tickets.asked.map(({ path, headers }) => [path, headers.authorization]),
    [
      ['/tickets/PAY-7', `Bearer ${token}`],
      ['/tickets/PAY-7', `Bearer ${token}`],
    ],
    'asked once at each of its stages',
  );
  const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
  const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
  t.match(
    statement.predicate.buildDefinition.resolvedDependencies.find(
      ({ name }: { name: string }) => name === 'plugin/linked-ticket',
    ),
    { digest: { sha256: digest } },
  );
  const asked = [{ name: 'linked-ticket', plugin: 'linked-ticket', status: 'passed' }];
  t.strictSame(
    view.stages.map(({ asked: who = [] }) => who),
    [[], [], asked, asked],
    'who was asked stands there, a pass too',
  );
  t.match(stored(sample), JSON.stringify({ asked }).slice(1, -1), 'in evidence and gate report');
  t.match(
    (await writ('show', view.runId)).data.stages.map((one: { asked?: unknown }) => one.asked),
    [undefined, undefined, asked, asked],
  );
  rmSync(place, { recursive: true });
  const verified = await writ('verify', 'HEAD', '--replay');
  t.match(verified, { code: 0, data: { verified: true } }, JSON.stringify(verified.data?.checks));
  const replayed = await writ('replay', view.runId);
  t.equal(replayed.code, 0, JSON.stringify(replayed.error));
  t.equal(tickets.asked.length, 2, 'nobody was asked again');
  t.notMatch(stored(sample), /canary/);
});

long('a change that a stage check refuses is not committed, and the finding gives the reason', async (t) => {
  const { sample, view, writ } = await scene(t, { state: 'open', frozen: ['src/'] });
  t.match(view, { decision: { type: 'abandon' } }, JSON.stringify(view.decision));
  t.match(view.decision?.rationale, /stage `security` refused by `linked-ticket`/);
  t.match(ours(view), [
    {
      stage: 'security',
      severity: 'error',
      message: 'expected PAY-7 to be approved at stage security, found open',
    },
    { stage: 'security', severity: 'error', path: 'src/price.js' },
  ]);
  t.match(await writ('replay', view.runId), { code: 0 });
  t.match(await writ('show', view.runId), { code: 0 });
  t.equal(sample.git('log', '-1', '--format=%s'), 'A stage check', 'the branch is where it was');
});

long('without a ticket key the stage check refuses the change and calls no server', async (t) => {
  const { tickets, view } = await scene(t, { state: 'approved' }, undefined, {});
  t.match(view, { decision: { type: 'abandon' } });
  t.match(ours(view), [{ message: 'expected the key of a ticket in the summary of the contract' }]);
  t.strictSame(tickets.asked, []);
});

const judge = (body: string) => (text: string, path: string) =>
  path === 'check.js' ? `export async function judge(input, context) { ${body} }\n` : text;

const silent: Readonly<Record<string, readonly [body: string, reason: string, tries: number]>> = {
  crashes: ['process.exit(1);', 'crashed', 3],
  throws: ["throw new Error('no ' + context.secrets.LINKED_TICKET_TOKEN);", 'threw', 3],
  'answers a yes': ['return { passed: true };', 'garbage', 1],
};

for (const [what, [body, reason, tries]] of casesOf(silent, ['throws']))
  t.test(
    `a stage check that ${what} refuses the change with a finding that names plugin and reason`,
    async (t) => {
      const { sample, view } = await scene(t, {}, judge(body));
      t.match(view, { decision: { type: 'abandon' } }, JSON.stringify(view.decision));
      t.match(ours(view), [
        {
          stage: 'security',
          severity: 'error',
          message: new RegExp(
            `stage check \`linked-ticket\` of plugin \`linked-ticket\` gave no answer at stage \`security\` \\(${reason}\\)`,
          ),
          detail: { code: 'PLUGIN_PROCESS_FAULT', plugin: 'linked-ticket', stage: 'security', reason, tries },
        },
      ]);
      t.equal(sample.git('log', '-1', '--format=%s'), 'A stage check', 'the branch is where it was');
      t.notMatch(JSON.stringify(view), /canary/);
      t.notMatch(stored(sample), /canary/);
    },
  );

long('a stage check that fails once is retried', async (t) => {
  const body =
    "if ((await (await fetch(context.options.url + '/')).json()).left === 0) return []; throw new Error('later');";
  let left = 2;
  const answer = {
    get left() {
      left -= 1;
      return left;
    },
  };
  const { view } = await scene(t, answer, (text, path) =>
    path === 'package.json' ? text.replace(/"security",\s*/, '') : judge(body)(text, path),
  );
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify([view.decision, ours(view)]));
});

long('a stage check sees checks and artifacts, can warn, and cannot remove findings', async (t) => {
  const spec = {
    ...ticket,
    acceptance: {
      verificationPlan: {
        fastChecks: [
          { id: 'quick', kind: 'command', command: 'true', required: true, artifactsProduced: ['test-log'] },
          { id: 'bad', kind: 'command', command: 'false', required: false, artifactsProduced: [] },
        ],
      },
    },
  };
  const body = `input.findings.length = 0; input.checks.length = 1;
    const { stage, checks, artifacts, patch } = input;
    return [{ severity: 'warning', message: 'seen: ' + context.secrets.LINKED_TICKET_TOKEN,
      detail: { stage, checks, artifacts, files: patch.files.map(({ path }) => path), diff: patch.diff, coded: btoa(context.secrets.LINKED_TICKET_TOKEN) } }];`;
  const { sample, view } = await scene(
    t,
    {},
    (text, path) =>
      path === 'package.json'
        ? text.replace(/"stages": \[[^\]]*\]/, '"stages": ["fast"], "readsDiff": true')
        : judge(body)(text, path),
    spec,
  );
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
  t.match(ours(view), [
    {
      stage: 'fast',
      severity: 'warning',
      detail: {
        stage: 'fast',
        checks: [{ id: 'quick', kind: 'command', status: 'passed', required: true, exitCode: 0 }],
        files: ['src/price.js', 'test/price.test.js'],
        diff: /^diff --git/,
      },
    },
  ]);
  const [fast] = view.stages;
  t.match(fast?.findings, [{ rule: 'check-outcome' }, { rule: 'linked-ticket' }]);
  t.match(fast?.checks, [{ id: 'quick' }, { id: 'bad', status: 'failed' }]);
  t.notMatch(JSON.stringify(view), /canary/);
  t.notMatch(JSON.stringify(view), Buffer.from(token).toString('base64'));
  t.notMatch(stored(sample), /canary/);
});

t.test('a stage check may not have the name of a rule', async (t) => {
  const named = (name: string) => (text: string, path: string) =>
    path === 'package.json'
      ? text.replace(/"name": "linked-ticket",(\s*)"module"/, `"name": "${name}",$1"module"`)
      : text;
  for (const name of ['secrets', 'check-outcome', 'cedar'])
    await t.rejects(scene(t, {}, named(name)), { code: 'SLOT_DUPLICATE', detail: { name } });
});
