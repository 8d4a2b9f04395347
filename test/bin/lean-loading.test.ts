import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';
import { makeSample, sampleSpec } from '../engine/sample.ts';
import { outputOf } from '../starter/run-program.ts';

const house = new URL('../../', import.meta.url).href;
const launcher = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
const lister = pathToFileURL(join(import.meta.dirname, 'list-loaded.ts')).href;

/** What an engine is made of, and what only few contracts need. */
const heavy = [
  /^core\/kernel\/(?:engine|hooks|hook|capabilities|rules)\.ts$/,
  /^core\/kernel\/worker\//,
  /^plugins\/(?:preset|preset\/open-engine)\.ts$/,
  /^plugins\/(?:artifacts|policy-engines|recorded-worker|redaction|sandbox|supply-chain)\//,
  // Words of an option, which help lists, are one table without imports.
  /^(?:agent|session(?!\/state\/settings\.ts$)|service|http)\//,
  // What flags there are, every command line knows.
  /^providers\/(?!flags\.ts)/,
  /^attest\/(?:keys|signer\/(?!signer-forms))/,
  /^readers\/(?:sensitive|advisories(?!\/number-order\.ts$)|documents\/archive)\//,
  /^(?:engine\/context\/import|plugins\/third-party|workspace\/(?:patch\/normalise|runtime|command-acl\/(?!plainly-allowed\.ts$)))/,
  /^workspace\/git\/(?:scratch|create-commit|import-tree)\.ts$/,
  /^node_modules\/(?!cac\/|smol-toml\/)/,
];

t.test('validating a spec loads no engine module and starts at most two git processes', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { home, root, env } = sample;
  const tools = join(home, 'tools');
  const asked = join(home, 'asked');
  const loaded = join(home, 'loaded');
  const spec = join(home, 'spec.json');
  const outside = join(home, 'outside');
  mkdirSync(tools);
  mkdirSync(outside);
  const git = outputOf('sh', ['-c', 'command -v git'], { cwd: home, env }).toString().trim();
  const shim = `#!/bin/sh\necho "$2" >> '${asked}'\nexec '${git}' "$@"\n`;
  writeFileSync(join(tools, 'git'), shim, { mode: 0o755 });
  writeFileSync(spec, sampleSpec());
  const policy = '[signer]\nkey = "keyless"\n[log]\nmirror = "git"\n';
  const validate = (cwd: string) => {
    for (const file of [asked, loaded]) rmSync(file, { force: true });
    const own = { ...env, PATH: `${tools}:${env.PATH}`, LOADED_INTO: loaded };
    const argv = ['--import', lister, launcher, 'spec', 'validate', spec];
    const out = execFileSync(process.execPath, argv, { cwd, env: own, encoding: 'utf8' });
    t.match(out, /^valid /);
    const modules = readFileSync(loaded, 'utf8')
      .split('\n')
      .flatMap((url) => (url.startsWith(house) ? [url.slice(house.length)] : []));
    t.strictSame(
      modules.filter((path) => heavy.some((one) => one.test(path))),
      [],
      'nothing heavy is loaded',
    );
    t.ok(modules.includes('spec/read-intent-spec.ts'), 'what is loaded is seen');
    return { out, modules, gits: existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : [] };
  };

  const inside = validate(root);
  t.strictSame(inside.gits, ['rev-parse', 'cat-file']);
  t.ok(inside.modules.includes('engine/open/repository-checks.ts'), 'the repository is looked at');

  mkdirSync(join(root, '.writ'));
  writeFileSync(join(root, '.writ', 'config.toml'), policy);
  sample.git('add', '.writ');
  sample.git('commit', '--quiet', '-m', 'Policy');
  t.strictSame(validate(root).gits, ['rev-parse', 'cat-file'], 'with a policy of its own, too');
  sample.git('update-ref', 'refs/writ/ledger-published/log', 'HEAD');
  t.strictSame(validate(root).gits, ['rev-parse', 'cat-file'], 'after a push of a log, too');
  writeFileSync(join(root, '.writ', 'config.toml'), 'colour = "red"\n');
  sample.git('commit', '--quiet', '-am', 'No policy');
  t.match(validate(root).out, /CONFIG_INVALID/, 'which is judged');

  const alone = validate(outside);
  t.strictSame(alone.gits, []);
  t.strictSame(
    alone.modules.filter((path) =>
      /^(?:workspace\/git\/git|workspace\/process\/spawn|engine\/open\/preview)/.test(path),
    ),
    [],
  );
});

t.test('`--version`, `--help` and `verify` load no schema library', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const loaded = join(sample.home, 'loaded');
  const own = { ...sample.env, LOADED_INTO: loaded };
  for (const args of [['--version'], ['--help'], ['verify', 'HEAD']])
    spawnSync(process.execPath, ['--import', lister, launcher, ...args], { cwd: sample.root, env: own });
  const modules = readFileSync(loaded, 'utf8');
  t.notMatch(modules, /node_modules\/zod\//);
  t.match(modules, /api\/verify\//, 'what is loaded is seen');
});

t.test('drawing a screen loads no module that opens a session', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const loaded = join(sample.home, 'loaded');
  const parts = ['bin/commands/code.ts', 'bin/code/code-on-screen.ts'];
  const script = parts.map((part) => `await import('${house}${part}');`).join('\n');
  const argv = ['--import', lister, '--input-type=module', '--eval', script];
  execFileSync(process.execPath, argv, { env: { ...sample.env, LOADED_INTO: loaded } });
  const modules = readFileSync(loaded, 'utf8')
    .split('\n')
    .flatMap((url) => (url.startsWith(house) ? [url.slice(house.length)] : []));
  const light = [
    /^(?:bin|core\/base|session\/(?:screen|state|tui))\/|^session\/open-log\.ts$/,
    // Bounds of what a line says.
    /^providers\/flags\.ts$/,
    /^api\/envelope\.ts$/,
    /^engine\/config\/(?:bounds|session-policy)\.ts$/,
    /^http\/guard-request\.ts$/,
    /^readers\/diff\/read-sections\.ts$/,
    /^node_modules\/(?:string-width|strip-ansi|ansi-regex|get-east-asian-width|marked|diff)\//,
  ];
  t.strictSame(
    modules.filter((path) => !light.some((one) => one.test(path))),
    [],
  );
  t.ok(modules.includes('session/tui/open-screen.ts'), 'what is loaded is seen');
  t.notOk(modules.includes('bin/code/serve-line.ts'));
});
