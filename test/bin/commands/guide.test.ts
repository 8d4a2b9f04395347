import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { describeProvider } from '../../../bin/command-parts/providers.ts';
import { commands } from '../../../bin/command-table.ts';
import { commandGroups, helpText } from '../../../bin/help.ts';
import { rules } from '../../../gates/rules.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

const dataOf = async (line: readonly string[], given: Parameters<typeof runLine>[2] = {}) => {
  const { code, out } = await runLine([...line, '--json'], commands, given);
  return { code, ...(JSON.parse(out) as { data: Record<string, unknown>; error?: { hints: string[] } }) };
};

t.test('the overview names every command once, and fits a screen', async (t) => {
  const shown = commands.filter(({ hidden }) => hidden !== true).map(({ name }) => name);
  t.strictSame(commandGroups.flatMap(({ names }) => names).sort(), shown.sort());
  const lines = helpText(commands, {}).split('\n');
  t.ok(lines.length <= 46, `${lines.length} lines`);
  t.match(lines[4], 'Most used:');
});

t.test('the help of a command begins with examples, and groups its options', async (t) => {
  const { out } = await runLine(['run', '--help'], commands);
  t.match(out, /^[^\n]+\n\nExamples:\n/);
  t.match(out, /\nWith `--provider codex`:\n {6}--codex-bin /);
  t.match(out, /\nMachine:\n {6}--sandbox /);
});

t.test('`writ help` has a topic for every page, and for every command', async (t) => {
  const { data } = await dataOf(['help']);
  const topics = new Map(
    (data.topics as { name: string; title: string }[]).map(({ name, title }) => [name, title]),
  );
  t.match([topics.get('baseline'), topics.get('concepts/run')], [/findings/, 'Run']);
  t.match((await dataOf(['help', 'concepts/run'])).data.text, /^# Run/);
  t.match((await dataOf(['help', 'config'])).data.text, /^# /);
  t.match((await dataOf(['help', 'spec', 'new'])).data.text, /writ spec new/);
  t.match((await dataOf(['help', 'spec'])).data.text, /spec <command>/);
  t.match(await dataOf(['help', 'confg']), { code: 129, error: { hints: ['did you mean `config`?'] } });
});

t.test('every rule has a guide', async (t) => {
  for (const { id, guide } of rules) t.ok(guide, id);
  t.match((await dataOf(['rules', 'scope'])).data, { rules: [{ id: 'scope', point: 'patch' }] });
  t.match(await dataOf(['rules', 'scop']), { code: 129, error: { hints: ['did you mean `scope`?'] } });
});

t.test('the rules of a listed plugin are known, trusted or not', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const given = { cwd: sample.root, env: sample.env };
  t.match(await dataOf(['rules', 'test-names'], given), { code: 129 });
  cpSync(join(fixtures, '../plugins/test-names'), join(sample.root, 'tools/test-names'), { recursive: true });
  t.equal((await dataOf(['plugin', 'add', 'tools/test-names'], given)).code, 0);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'chore: a rule');
  const about = 'A new test is named by a sentence';
  t.match((await dataOf(['rules', 'test-names'], given)).data, {
    rules: [{ id: 'test-names', refuses: about, mend: '' }],
  });
  const explained = (await dataOf(['explain', 'test-names'], given)).data;
  t.strictSame(explained, { subject: 'test-names', reasons: [about], next: [] }, 'nothing is made up');
  const { out } = await runLine(['rules', 'test-names'], commands, given);
  t.notMatch(out, /mend|example/);
  const file = join(sample.root, 'tools/test-names/package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  manifest.writ.rules[0].text = { about: 'Names are sentences.', help: 'Name the test by a sentence.' };
  writeFileSync(file, JSON.stringify(manifest));
  t.equal((await dataOf(['plugin', 'add', 'tools/test-names'], given)).code, 0);
  sample.git('commit', '--quiet', '-am', 'chore: advice');
  const advised = (await dataOf(['explain', 'test-names'], given)).data;
  t.match(advised, { reasons: ['Names are sentences.'], next: ['Name the test by a sentence.'] });
});

t.test('a local model server is usable only while it listens', async (t) => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const given = { cwd: t.testdir({}), env: {} };
  const described = () => describeProvider('own', { keys: [], keyless: () => true, base }, given);
  t.match(await described(), `needs no key; at ${base}`);
  await new Promise((resolve) => server.close(resolve));
  await t.rejects(described(), {
    code: 'PROVIDER_FAILED',
    message: `not running: nothing listens at ${base}`,
  });
});

t.test('a code, a rule and a run are explained, with the next step', async (t) => {
  t.match((await dataOf(['explain', 'worktree_dirty'])).data, {
    subject: 'WORKTREE_DIRTY',
    next: [/--local-changes/],
  });
  t.match((await dataOf(['explain', 'new-tests'])).data, { next: [/Add a test/, /requireNewTests/] });
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const given = { cwd: sample.root, env: sample.env };
  writeFileSync(join(sample.root, 'src/price.js'), 'export const price = () => eval("1");\n');
  sample.git('add', 'src');
  const sealed = await dataOf(['seal', '-m', 'feat: worse', '--check', 'true'], given);
  t.match(sealed, { code: 1 });
  t.match((await dataOf(['explain', `${sealed.data.run_id}`], given)).data, {
    reasons: [/no-direct-eval/, /`no-direct-eval`: .*src\/price\.js/],
    next: [/start the program with a list/],
  });
  t.match((await dataOf(['explain'], given)).data, { subject: sealed.data.run_id }, 'the newest run');
  t.match(await dataOf(['explain', 'nothing-of-that-name'], given), { code: 1 });
  t.match(await dataOf(['explain', 'HEAD'], given), { code: 1 }, 'a commit of no run');
  writeFileSync(join(sample.root, 'src/price.js'), 'export const price = () => 2;\n');
  sample.git('add', 'src');
  const { data } = await dataOf(['seal', '-m', 'feat: two', '--check', 'true'], given);
  t.match(
    (await dataOf(['show', 'HEAD'], given)).data,
    { run_id: data.run_id },
    'the run that sealed a commit',
  );
});

t.test('`config print` says where each value comes from', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ/config.toml'), '[checks]\nmax_parallel = 7\n');
  sample.git('add', '-f', '.writ');
  sample.git('commit', '-qm', 'Configuration');
  const { data } = await dataOf(['config', 'print'], { cwd: sample.root, env: sample.env });
  const values = data.values as readonly { key: string; value: unknown; from: string }[];
  const found = (key: string) => values.find((one) => one.key === key);
  t.match(found('checks.max_parallel'), { value: 7, from: /^\.writ\/config\.toml at [0-9a-f]{12}$/ });
  t.match(found('checks.max_memory_mb'), { value: 4096, from: 'default' });
  t.match(found('policy.mode'), { value: 'enforce', from: 'default' });
});

t.test('completion answers commands, options, choices and what the repository has', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const given = { cwd: sample.root, env: sample.env };
  const ask = async (...words: readonly string[]) =>
    (await runLine(['complete', '--', ...words], commands, given)).out;
  t.match(await ask('spec', ''), /^new\twrite a draft/);
  t.match(await ask('seal', '--ri'), /^--risk\t/);
  t.match(await ask('seal', '--risk', ''), /^low\t.*\nmedium\t.*\nhigh\t/);
  t.match(await ask('rules', 'tests'), /^tests-kept\t/);
  t.match(await ask('verify', 'ma'), /^main\t/);
  t.notMatch(await ask(''), /^complete\t/m, 'what is hidden is not proposed');
  t.match(await dataOf(['completion', 'tcsh']), { code: 129 });
  const { out } = await runLine(['completion', 'bash'], commands);
  t.match(out, /writ complete --/);
  execFileSync('bash', ['-n'], { input: out });
});
