import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { findPlugins } from '../../../plugins/third-party/find-plugins.ts';
import type { PluginAccess } from '../../../plugins/third-party/plugin-access.ts';
import {
  type PluginPackage,
  readDirectory,
  readTarball,
} from '../../../plugins/third-party/plugin-package.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(240_000);

/* Whole runs judged by plugins that the repository lists, and by a policy engine. */

const plugins = fileURLToPath(new URL('../../../fixtures/plugins/', import.meta.url));
const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const quick = {
  id: 'quick',
  kind: 'command',
  command: 'true',
  required: true,
  artifactsProduced: ['test-log'],
};
const specWith = (...release: Json[]): Json => ({
  acceptance: { verificationPlan: { fastChecks: [quick], releaseChecks: release } },
});

/** Trusts these, keeps these. */
function access(...packages: readonly PluginPackage[]): PluginAccess {
  return {
    trusts: async (digest) => packages.some((one) => one.digest === digest),
    find: async (digest) => packages.find((one) => one.digest === digest),
  };
}

/** A sample repository whose base commit has these files besides. */
function sampleWith(t: Test, config: string, place: (root: string) => void = () => {}): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ/config.toml'), config);
  place(sample.root);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'Judges');
  return sample;
}

const run = (sample: Sample, pluginAccess?: PluginAccess, spec: Json = specWith()): Promise<RunView> =>
  sample.run({ source: { kind: 'patch', bytes: fix }, ...(pluginAccess ? { pluginAccess } : {}) }, spec);

const errorsOf = (view: RunView) =>
  [
    ...view.findings,
    ...view.stages.flatMap((stage) => stage.checks.flatMap((check) => check.findings)),
  ].filter(({ severity }) => severity === 'error');

/** `resolvedDependencies` of the signed statement. */
function dependencies(
  sample: Sample,
  view: RunView,
): readonly { name: string; digest: { sha256?: string } }[] {
  const path = `refs/ai/runs/${view.runId}:provenance.sigstore.json`;
  const bundle = JSON.parse(sample.git('show', path)) as { dsseEnvelope: { payload: string } };
  const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
  return statement.predicate.buildDefinition.resolvedDependencies;
}

const copyTo = (from: string, to: string) => (root: string) =>
  cpSync(join(plugins, from), join(root, to), { recursive: true });

t.test('runs plugins from a path of the repository', { jobs: 2 }, async (t) => {
  const pluginPackage = await readDirectory(join(plugins, 'test-names'));
  const entry = `[[plugins]]\npath = "tools/test-names"\ndigest = "sha256:${pluginPackage.digest}"\n`;

  t.test('a plugin that passes lets the change through and is listed in the provenance', async (t) => {
    const sample = sampleWith(t, entry, copyTo('test-names', 'tools/test-names'));
    const view = await run(sample, access(pluginPackage));
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.match(
      dependencies(sample, view).find(({ name }) => name === 'plugin/test-names'),
      { digest: { sha256: pluginPackage.digest } },
    );
  });

  t.test('a plugin refuses a change with the options of the repository', async (t) => {
    const config = `${entry}[rules.test-names]\nmin_words = 9\n`;
    const sample = sampleWith(t, config, copyTo('test-names', 'tools/test-names'));
    const before = sample.state();
    const view = await run(sample, access(pluginPackage));
    t.equal(view.decision?.type, 'abandon');
    t.match(errorsOf(view), [{ rule: 'test-names', path: 'test/price.test.js', line: 9 }]);
    t.equal(sample.state(), before);
  });

  t.test('SARIF output contains the rule texts of the plugin manifest', async (t) => {
    const place = join(t.testdir(), 'described');
    cpSync(join(plugins, 'test-names'), place, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    const text = { about: 'Names of tests say what holds.', help: 'Say it in nine words.', tags: ['naming'] };
    Object.assign(manifest.writ.rules[0], { text });
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
    const described = await readDirectory(place);
    const listed = `[[plugins]]\npath = "tools/described"\ndigest = "sha256:${described.digest}"\n`;
    const sample = sampleWith(t, `${listed}[rules.test-names]\nmin_words = 9\n`, (root) =>
      cpSync(place, join(root, 'tools/described'), { recursive: true }),
    );
    const view = await run(sample, access(described));
    const shown = async (): Promise<unknown> => {
      const file = join(sample.home, 'run.sarif');
      const call = ['report', view.runId, '--sarif', file];
      t.equal((await runLine(call, commands, { cwd: sample.root, env: sample.env })).code, 0);
      const { runs } = JSON.parse(readFileSync(file, 'utf8'));
      return runs[0].tool.driver.rules.find(({ id }: { id: string }) => id === 'test-names');
    };
    t.match(await shown(), { shortDescription: { text: text.about }, help: { text: text.help } });
  });

  t.test('a plugin that the user does not trust stops the run before any work', async (t) => {
    const sample = sampleWith(t, entry, copyTo('test-names', 'tools/test-names'));
    const digest = `sha256:${pluginPackage.digest}`;
    const before = sample.state();
    for (const given of [undefined, access()])
      await t.rejects(run(sample, given), {
        code: 'PLUGIN_UNTRUSTED',
        detail: { plugin: 'test-names', found: digest },
        hints: [new RegExp(`writ plugin trust ${digest}`), /--plugin/],
      });
    t.equal(sample.state(), before);
    t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'no run was begun');
  });

  t.test('a plugin that differs from its pinned digest stops the run, even if trusted', async (t) => {
    const sample = sampleWith(t, entry, (root) => {
      copyTo('test-names', 'tools/test-names')(root);
      appendFileSync(join(root, 'tools/test-names/rules/test-names.ts'), '// changed\n');
    });
    const changed = await readDirectory(join(sample.root, 'tools/test-names'));
    await t.rejects(run(sample, access(pluginPackage, changed)), {
      code: 'PLUGIN_CHANGED',
      detail: { expected: `sha256:${pluginPackage.digest}`, found: `sha256:${changed.digest}` },
    });
  });

  t.test('a missing plugin stops the run', async (t) => {
    await t.rejects(run(sampleWith(t, entry), access(pluginPackage)), { code: 'PLUGIN_MISSING' });
  });

  t.test('plugins come from the base commit, not from the working tree or a pull request', async (t) => {
    const sample = sampleWith(t, '');
    copyTo('test-names', 'tools/test-names')(sample.root);
    writeFileSync(join(sample.root, '.writ/config.toml'), `${entry}[rules.test-names]\nmin_words = 9\n`);
    const view = await run(sample, access(pluginPackage));
    t.equal(view.decision?.type, 'commit', 'the working tree lists it, the base does not');
    const other = sampleWith(t, entry, copyTo('test-names', 'tools/test-names'));
    other.git('checkout', '--quiet', '-b', 'pull-request');
    writeFileSync(
      join(other.root, 'tools/test-names/rules/test-names.ts'),
      'export const judge = () => { throw new Error("the candidate judged itself"); };\n',
    );
    other.git('commit', '--quiet', '--all', '-m', 'Easier gates');
    const judged = await other.run(
      {
        source: { kind: 'range', range: 'main..pull-request' },
        onto: 'main',
        pluginAccess: access(pluginPackage),
      },
      { ...(specWith() as object), intent: { changeType: 'chore', inScope: ['tools/'] } },
    );
    t.equal(judged.decision?.type, 'commit', 'the rule of the base judged, not the one of the candidate');
  });

  t.test(
    'a plugin that hangs or uses too much memory refuses the change, and the run is decided',
    async (t) => {
      const box = mkdtempSync(join(t.testdir({}), 'p-'));
      const manifest = {
        name: 'slow',
        version: '1.0.0',
        type: 'module',
        writ: {
          api: 1,
          rules: [
            { id: 'slow-rule', point: 'patch', module: 'a.js', timeoutSeconds: 1 },
            { id: 'hungry-rule', point: 'patch', module: 'b.js', timeoutSeconds: 20 },
          ],
        },
      };
      writeFileSync(join(box, 'package.json'), JSON.stringify(manifest));
      writeFileSync(join(box, 'a.js'), 'export const judge = () => { for (;;); };\n');
      const hungry =
        'const held = Buffer.alloc(200e6, 1); export const judge = () => { for (;;) held[0] += 1; };\n';
      writeFileSync(join(box, 'b.js'), hungry);
      const slow = await readDirectory(box);
      const config = `[[plugins]]\npath = "tools/slow"\ndigest = "sha256:${slow.digest}"\n[checks]\nmax_memory_mb = 128\n`;
      const sample = sampleWith(t, config, (root) =>
        cpSync(box, join(root, 'tools/slow'), { recursive: true }),
      );
      const before = sample.state();
      const view = await run(sample, access(slow));
      t.equal(view.decision?.type, 'abandon');
      const errors = new Map(errorsOf(view).map((finding) => [finding.rule, finding]));
      t.equal(errors.size, 2);
      t.match(errors.get('slow-rule')?.detail, { code: 'RULE_FAULT', plugin: 'slow', reason: 'deadline' });
      t.match(errors.get('hungry-rule')?.detail, { reason: 'crashed' });
      t.match(errors.get('hungry-rule')?.message, "it held too much of the machine's memory");
      t.equal(sample.state(), before);
      t.equal(view.state, 'decided');
    },
  );

  t.test('a plugin may not replace a built-in rule or a policy engine', async (t) => {
    for (const id of ['scope', 'cedar']) {
      const box = mkdtempSync(join(t.testdir({}), 'p-'));
      const rules = [{ id, point: 'patch', module: 'a.js' }];
      writeFileSync(
        join(box, 'package.json'),
        JSON.stringify({ name: 'shadow', version: '1.0.0', writ: { api: 1, rules } }),
      );
      writeFileSync(join(box, 'a.js'), 'export const judge = () => [];\n');
      const shadow = await readDirectory(box);
      const config = `[[plugins]]\npath = "tools/shadow"\ndigest = "sha256:${shadow.digest}"\n`;
      const sample = sampleWith(t, config, (root) =>
        cpSync(box, join(root, 'tools/shadow'), { recursive: true }),
      );
      await t.rejects(run(sample, access(shadow)), { code: 'SLOT_DUPLICATE' }, id);
      rmSync(box, { recursive: true });
    }
  });
});

long('runs packed plugins', async (t) => {
  const box = t.testdir({});
  execFileSync('npm', ['pack', '--offline', '--silent', '--pack-destination', box], {
    cwd: join(plugins, 'changelog-entry'),
    env: { PATH: process.env.PATH ?? '', HOME: box, npm_config_update_notifier: 'false' },
  });
  const tarball = join(box, 'example-writ-changelog-entry-2.1.0.tgz');
  const pluginPackage = await readTarball(readFileSync(tarball), tarball);
  const asks = (path: string) =>
    specWith({ id: 'told', kind: 'policy', command: `changelog-entry ${path}`, required: true });

  t.test('a packed plugin stored by the user runs where the spec lists it', async (t) => {
    const config = `[[plugins]]\npackage = "@example/writ-changelog-entry"\ndigest = "sha256:${pluginPackage.digest}"\n`;
    const sample = sampleWith(t, config);
    await t.rejects(run(sample, access()), { code: 'PLUGIN_MISSING' });
    const refused = await run(sample, access(pluginPackage), asks('docs/notes.md'));
    t.equal(refused.decision?.type, 'abandon');
    t.match(errorsOf(refused), [{ rule: 'changelog-entry' }]);
    const passed = await run(sample, access(pluginPackage), asks('src/price.js'));
    t.equal(passed.decision?.type, 'commit', passed.decision?.rationale ?? '');
    t.match(
      dependencies(sample, passed).find(({ name }) => name === 'plugin/changelog-entry'),
      { digest: { sha256: pluginPackage.digest } },
    );
  });

  t.test('a packed plugin in the repository is read from the base tree', async (t) => {
    const sample = sampleWith(t, '', (root) => {
      mkdirSync(join(root, 'vendor'));
      cpSync(tarball, join(root, 'vendor/gate.tgz'));
    });
    writeFileSync(join(sample.root, 'vendor/gate.tgz'), 'changed in the working tree');
    const repository = await openRepository(sample.root);
    const listed = [{ kind: 'path', place: 'vendor/gate.tgz', digest: pluginPackage.digest }] as const;
    const [found] = await findPlugins(repository, 'HEAD', listed, access());
    t.match(found, { status: 'untrusted', manifest: { name: 'changelog-entry', version: '2.1.0' } });
  });

  t.test('a plugin that is not listed provides no rule, and the change is refused', async (t) => {
    const view = await run(sampleWith(t, ''), access(pluginPackage), asks('src/price.js'));
    t.equal(view.decision?.type, 'abandon');
  });
});

long('evaluates changes with a policy engine', { jobs: 2 }, async (t) => {
  const asks = specWith({ id: 'policy', kind: 'policy', command: 'cedar release', required: true });
  const config = '[policy.release]\nengine = "cedar"\nfiles = [".writ/policies/release.cedar"]\n';
  const write = (text: string) => (root: string) => {
    mkdirSync(join(root, '.writ/policies'));
    writeFileSync(join(root, '.writ/policies/release.cedar'), text);
  };
  const permit = 'permit (principal, action, resource);\n';

  t.test('a policy that permits lets the change through, and its files are in the provenance', async (t) => {
    const sample = sampleWith(t, config, write(permit));
    const view = await run(sample, undefined, asks);
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    const judges = dependencies(sample, view).filter(({ name }) => name.startsWith('.writ/'));
    t.strictSame(judges, [
      { name: '.writ/config.toml', digest: { sha256: sha256Hex(config) } },
      {
        name: '.writ/policies/release.cedar',
        uri: 'urn:writ:policy:release',
        digest: { sha256: sha256Hex(permit) },
      },
    ]);
  });

  t.test('a policy that denies is named, and its working tree version is ignored', async (t) => {
    const text = `${permit}@id("src-is-frozen") forbid (principal, action == Action::"change", resource) when { resource.directory == "src" };\n`;
    const sample = sampleWith(t, config, write(text));
    writeFileSync(join(sample.root, '.writ/policies/release.cedar'), permit);
    const view = await run(sample, undefined, asks);
    t.equal(view.decision?.type, 'abandon');
    t.match(errorsOf(view), [
      { rule: 'cedar', path: 'src/price.js', detail: { policies: ['src-is-frozen'] } },
    ]);
  });

  t.test('an invalid or unknown policy refuses the change', async (t) => {
    const invalid = await run(sampleWith(t, config, write('permit (')), undefined, asks);
    t.match(errorsOf(invalid), [
      { rule: 'cedar', detail: { code: 'POLICY_INVALID', file: '.writ/policies/release.cedar' } },
    ]);
    const commands = ['cedar', 'cedar relase', 'cedar release again'];
    const checks = commands.map((command, index) => ({
      id: `p${index}`,
      kind: 'policy',
      command,
      required: true,
    }));
    const view = await run(sampleWith(t, config, write(permit)), undefined, specWith(...checks));
    const unknown = { rule: 'cedar', detail: { code: 'POLICY_UNKNOWN' } };
    t.match(errorsOf(view), [unknown, unknown, unknown]);
  });

  t.test('a misspelled policy engine or a missing policy file stops the run', async (t) => {
    await t.rejects(run(sampleWith(t, config), undefined, asks), { code: 'CONFIG_INVALID' });
    const misspelt = sampleWith(t, config.replace('"cedar"', '"ceder"'), write(permit));
    await t.rejects(run(misspelt, undefined, asks), {
      code: 'CONFIG_INVALID',
      message: /did you mean `cedar`/,
    });
  });
});
