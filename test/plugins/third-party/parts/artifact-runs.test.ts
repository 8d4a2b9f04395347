import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../../bin/command-table.ts';
import { artifactScaffold } from '../../../../bin/plugin/maker-scaffolds.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { runLine } from '../../../bin/host.ts';
import { fixtures, type Json, makeSample } from '../../../engine/sample.ts';
import { casesOf, long } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(240_000);

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const demanded = '[artifacts.who-owns-it]\nplugin = "owners"\n';
const sealed: Json = { provenance: { transparencyLog: { mode: 'internal-ledger' } } };

interface Scene {
  readonly edit?: (text: string) => string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly section?: string;
  readonly options?: string;
  readonly secret?: string;
}

async function scene(
  t: Test,
  { edit = (text) => text, manifest = {}, section = demanded, ...more }: Scene = {},
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  for (const [path, text] of artifactScaffold('owners')) {
    const place = join(sample.root, 'tools/owners', path);
    mkdirSync(dirname(place), { recursive: true });
    if (path === 'artifact.js') writeFileSync(place, edit(text));
    else if (path === 'package.json') {
      const { writ, ...rest } = JSON.parse(text);
      writeFileSync(place, JSON.stringify({ ...rest, writ: { ...writ, ...manifest } }));
    } else writeFileSync(place, text);
  }
  const { digest } = await readDirectory(join(sample.root, 'tools/owners'));
  mkdirSync(join(sample.root, '.writ'));
  const entry = `[[plugins]]\npath = "tools/owners"\ndigest = "sha256:${digest}"\n${more.options ?? ''}\n`;
  writeFileSync(join(sample.root, '.writ/config.toml'), `${entry}\n${section}`);
  writeFileSync(join(sample.root, 'CODEOWNERS'), '* @everybody\n');
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'Who owns what');
  const pluginAccess = {
    trusts: async (one: string) => one === digest,
    find: async () => undefined,
    secret: handing({ OWNERS_TOKEN: more.secret }),
  };
  const run = (spec: Json = sealed) =>
    sample.run({ source: { kind: 'patch', bytes: fix }, pluginAccess }, spec);
  return { sample, digest, run };
}

long('a plugin artifact is sealed as evidence and byproduct under the name of the plugin', async (t) => {
  const { sample, digest, run } = await scene(t);
  const view = await run();
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
  const path = 'artifacts/release/plugins/owners/who-owns-it.json';
  const kept = view.artifacts.find(({ name }) => name === 'who-owns-it');
  t.match(kept, { plugin: 'owners', path, stage: 'release', contentType: 'application/json' });
  const content = JSON.parse(sample.git('show', `refs/ai/content/${view.runId}:${path}`));
  t.match(content, { owners: [{ owner: '@everybody', files: Array }], nobody: [] });
  const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
  const { predicate } = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
  const named = (list: { name: string }[], name: string) => list.find((one) => one.name === name);
  t.match(named(predicate.runDetails.byproducts, path), {
    digest: { sha256: kept?.sha256 },
    mediaType: 'application/json',
  });
  t.match(named(predicate.buildDefinition.resolvedDependencies, 'plugin/owners'), {
    digest: { sha256: digest },
  });
  const names = sample.git('ls-tree', '-r', '--name-only', `refs/ai/runs/${view.runId}`).split('\n');
  const evidence = names
    .filter((name) => name.startsWith('evidence/'))
    .map((name) => JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:${name}`)));
  const release = evidence.find(({ kind }) => kind === 'release');
  t.strictSame(release.made_by, [{ sha256: kept?.sha256, plugin: 'owners' }]);
  t.ok(release.reports.some(({ sha256 }: { sha256: string }) => sha256 === kept?.sha256));
  const line = async (...argv: string[]) => {
    const { code, out } = await runLine(['--json', ...argv], commands, { cwd: sample.root, env: sample.env });
    return { code, ...JSON.parse(out) };
  };
  const verified = await line('verify', 'HEAD');
  t.match(verified, { code: 0, data: { verified: true } }, JSON.stringify(verified.data?.checks));
  const shown = await line('show', view.runId);
  t.match(
    shown.data.artifacts.find(({ name }: { name: string }) => name === 'who-owns-it'),
    { plugin: 'owners' },
  );
});

long('secrets are masked in plugin artifacts and in messages of the plugin', async (t) => {
  const secret = 'tok-canary-0123456789';
  const key = `AKIA${'QX7RT2LMZP4NW5VK'}`;
  const tell = (what: string) => (text: string) =>
    text
      .replace(/ {2}const lines = linesOf[^\n]*\n/, (line) => `  ${what}\n${line}`)
      .replace('{ options }', '{ options, secrets }');
  const manifest = { secrets: ['OWNERS_TOKEN'] };
  const made = await scene(t, {
    manifest,
    secret,
    edit: tell(
      `return { json: { token: secrets.OWNERS_TOKEN, key: '${key.slice(0, 4)}' + '${key.slice(4)}' } };`,
    ),
  });
  const view = await made.run();
  const text = made.sample.git(
    'show',
    `refs/ai/content/${view.runId}:artifacts/release/plugins/owners/who-owns-it.json`,
  );
  t.notMatch(text, /canary/);
  t.notMatch(text, key);
  t.match(text, /token/);
  const refused = await scene(t, {
    manifest,
    secret,
    edit: tell("return { unmade: 'no answer to ' + secrets.OWNERS_TOKEN };"),
  });
  const told = await refused.run();
  t.not(told.decision?.type, 'commit');
  t.match(JSON.stringify(told), /plugin `owners`: no answer to/);
  t.notMatch(JSON.stringify(told), /canary/);
});

const failures: Readonly<Record<string, readonly [body: string, found: RegExp]>> = {
  'refuses to make it': ["return { unmade: 'no one owns it' };", /plugin `owners`: no one owns it/],
  throws: ["throw new Error('no reason');", /plugin `owners` gave no answer \(threw\): no reason/],
  'goes away': ['process.exit(0);', /plugin `owners` gave no answer \(crashed\)/],
  hangs: ['for (;;);', /plugin `owners` gave no answer \(deadline\)/],
  floods: ["return { text: 'x'.repeat(20_000_000) };", /plugin `owners` gave no answer \(flood\)/],
  'answers nothing': ['return undefined;', /plugin `owners`: expected an object/],
  'answers what is no JSON': ["return { text: '{' };", /plugin `owners`/],
};

for (const [how, [body, found]] of casesOf(failures, ['refuses to make it']))
  t.test(`a run does not commit if the plugin that must produce an artifact ${how}`, async (t) => {
    const { sample, run } = await scene(t, {
      edit: (text) => text.replace('  const lines = linesOf', `  ${body}\n  const lines = linesOf`),
      manifest: {
        artifacts: [
          {
            name: 'owners',
            module: './artifact.js',
            contentType: 'application/json',
            extension: 'json',
            timeoutSeconds: how === 'hangs' ? 1 : 60,
          },
        ],
      },
    });
    const head = sample.git('rev-parse', 'HEAD');
    const view = await run();
    t.equal(view.decision?.type, 'abandon', JSON.stringify(view.decision));
    const findings = view.stages.flatMap((stage) => stage.findings);
    const missing = findings.find(({ rule }) => rule === 'artifact-present');
    t.match(missing, { severity: 'error', detail: { artifact: 'who-owns-it' } });
    t.match(missing?.message, found);
    t.equal(sample.git('rev-parse', 'HEAD'), head, 'the branch is where it was');
  });

long('the configured artifact format is enforced', async (t) => {
  const { run } = await scene(t, { section: `${demanded}format = "sarif"\n` });
  const view = await run();
  t.equal(view.decision?.type, 'abandon');
  t.match(JSON.stringify(view.stages), /artifact-format/);
});

long('a refused artifact fails the stage that the configuration names', async (t) => {
  const { run } = await scene(t, {
    section: `${demanded}stage = "fast"\n`,
    options: 'options = { strict = true }',
    edit: (text) => text.replace('options.strict && nobody.length > 0', 'options.strict'),
  });
  const { stages } = await run();
  t.match(
    stages.find(({ stage }) => stage === 'fast'),
    { status: 'failed' },
  );
  t.match(
    stages.find(({ stage }) => stage === 'release'),
    { status: 'skipped', ran: 0 },
  );
});

t.test('refuses artifact settings with reserved names, unknown plugins or invalid fields', async (t) => {
  for (const section of [
    '[artifacts.sbom]\nplugin = "owners"\n',
    '[artifacts.test-log]\nplugin = "owners"\n',
    '[artifacts.release-notes]\nplugin = "owners"\n',
    '[artifacts.who-owns-it]\nplugin = "another"\n',
    '[artifacts.who-owns-it]\nplugin = "owners"\nstage = "later"\n',
    '[artifacts.Who]\nplugin = "owners"\n',
    '[artifacts.who-owns-it]\n',
    '[artifacts.who-owns-it]\nplugin = "owners"\nrequired = false\n',
  ]) {
    const { run } = await scene(t, { section });
    await t.rejects(run(), { code: 'CONFIG_INVALID' }, section);
  }
  const { run } = await scene(t, {
    manifest: {
      artifacts: [
        { name: 'sbom', module: './artifact.js', contentType: 'application/json', extension: 'json' },
      ],
    },
    section: '',
  });
  await t.rejects(run(), { code: 'SLOT_DUPLICATE' });
});
