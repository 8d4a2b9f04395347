import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { readTarball } from '../../../plugins/third-party/plugin-package.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.setTimeout(240_000);

interface Answer {
  readonly code: number;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what it is
  readonly data: any;
  readonly error?: { readonly code: string; readonly message: string };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const saying = async (given: Parameters<typeof runLine>[2], ...argv: string[]): Promise<Answer> => {
    const place = { cwd: sample.root, env: sample.env, ...given };
    const { code, out, err } = await runLine(['--json', ...argv], commands, place);
    const answer = JSON.parse(out);
    if (answer.data !== undefined) t.strictSame(faultsOf(answer.command, answer.data), [], argv.join(' '));
    return { code, err, ...answer };
  };
  const say = (...argv: string[]): Promise<Answer> => saying({}, ...argv);
  const put = (path: string, text: string): void => {
    mkdirSync(join(sample.root, path, '..'), { recursive: true });
    writeFileSync(join(sample.root, path), text);
  };
  return { sample, say, saying, put } as const;
}

long('a packed plugin is created, tested, added, trusted and then refuses a change', async (t) => {
  const { sample, say } = scene(t);
  await say('plugin', 'new', 'gate', 'no-drafts');
  writeFileSync(join(sample.root, 'no-drafts/notes.txt'), 'mine\n');
  t.equal((await say('plugin', 'test', 'no-drafts')).code, 0);
  const packed = await say('plugin', 'pack', 'no-drafts', '--out', '../no-drafts.tgz');
  t.match(packed, {
    code: 0,
    data: {
      name: 'no-drafts',
      version: '0.1.0',
      left_out: [],
      rules: ['no-drafts'],
      parts: [],
      needs: [],
      config: `[[plugins]]\npackage = "no-drafts"\ndigest = "${packed.data.digest}"\n`,
    },
  });
  t.strictSame(
    packed.data.files.map(({ path }: { path: string }) => path),
    ['README.md', 'cases.json', 'package.json', 'rules/no-drafts.js'],
    'what `files` does not name is no part of the package',
  );
  const bytes = readFileSync(packed.data.path);
  t.equal(`sha256:${(await readTarball(bytes, 'x')).digest}`, packed.data.digest);
  const names = execFileSync('tar', ['-tvzf', packed.data.path], { encoding: 'utf8' });
  t.match(names, /^-rw-r--r-- 0\/0 .* package\/README.md$/m, 'tar reads it, and it is nobody’s');
  t.match(await say('plugin', 'test', '../no-drafts.tgz'), { code: 0, data: { digest: packed.data.digest } });

  const added = await say('plugin', 'add', '../no-drafts.tgz');
  t.match(added, { code: 0, data: { digest: packed.data.digest, package: 'no-drafts', kept: true } });
  t.ok(readFileSync(join(sample.root, '.writ/config.toml'), 'utf8').includes(packed.data.config));
  sample.git('add', '--force', '.writ/config.toml');
  sample.git('commit', '--quiet', '-m', 'Judge');
  writeFileSync(join(sample.root, '../spec.json'), sampleSpec());
  const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff'), 'utf8');
  writeFileSync(
    join(sample.root, '../fix.diff'),
    fix.replace('+  return count * cents;', '+  return count * cents; // DO NOT SHIP'),
  );
  const line = ['run', '../spec.json', '--patch', '../fix.diff'];
  t.equal((await say(...line)).error?.code, 'PLUGIN_UNTRUSTED');
  t.match(await say('plugin', 'trust', 'no-drafts', '--yes', '--repo', sample.root), {
    code: 129,
    error: { code: 'USAGE', message: /two things/ },
  });
  t.match(await say('plugin', 'trust', '../no-drafts.tgz', '--yes'), {
    code: 0,
    data: { name: 'no-drafts' },
  });
  const refused = await say(...line);
  t.match(refused, { code: 1, data: { findings: [{ rule: 'no-drafts', path: 'src/price.js' }] } });
});

t.test('packing is reproducible regardless of file times, modes and order', async (t) => {
  const { sample, say, put } = scene(t);
  await say('plugin', 'new', 'stage-check', 'linked-ticket');
  const long = `rules/${'deep/'.repeat(6)}${'long-'.repeat(20)}ünlike.js`;
  for (const name of ['linked-ticket', 'other']) {
    for (const path of ['README.md', 'cases.json', 'check.js'])
      put(`other/${path}`, readFileSync(join(sample.root, 'linked-ticket', path), 'utf8'));
    const manifest = JSON.parse(readFileSync(join(sample.root, 'linked-ticket/package.json'), 'utf8'));
    put(
      `${name}/package.json`,
      JSON.stringify({ ...manifest, files: ['check.js', 'cases.json', './rules/', '!rules/draft.js'] }),
    );
    put(`${name}/${long}`, 'export const a = 1;\n');
    put(`${name}/rules/draft.js`, name);
    put(`${name}/notes.txt`, name);
  }
  const before = join(sample.root, 'other/check.js');
  utimesSync(before, 1, 1);
  chmodSync(before, 0o755);
  const one = await say('plugin', 'pack', 'linked-ticket');
  t.match(one.data.path, /linked-ticket-0\.1\.0\.tgz$/);
  const two = await say('plugin', 'pack', 'other', '--out', 'two.tgz');
  t.equal(one.data.sha256, two.data.sha256);
  t.ok(readFileSync(one.data.path).equals(readFileSync(two.data.path)));
  t.strictSame(
    one.data.files.map(({ path }: { path: string }) => path),
    ['README.md', 'cases.json', 'check.js', 'package.json', long],
  );
  t.match(execFileSync('tar', ['-tzf', one.data.path], { encoding: 'utf8' }), /deep\/deep/);
  t.match(one.data, {
    parts: [{ kind: 'stage-check', name: 'linked-ticket' }],
    needs: ['connects to linked-ticket.example', 'is handed the secret LINKED_TICKET_TOKEN'],
  });
  t.equal((await say('plugin', 'pack', 'other', '--out', 'two.tgz')).error?.code, 'OUTPUT_EXISTS');
});

t.test('packing leaves out secrets and hidden files, and refuses symlinks', async (t) => {
  const { sample, say, put } = scene(t);
  await say('plugin', 'new', 'gate', 'no-drafts');
  put('no-drafts/rules/.env', 'TOKEN=canary');
  put('no-drafts/rules/signing.pem', 'canary');
  put('no-drafts/rules/.ssh/config', 'canary');
  put('no-drafts/.env.local', 'TOKEN=canary');
  const packed = await say('plugin', 'pack', 'no-drafts', '--out', 'a.tgz');
  t.strictSame(packed.data.left_out.toSorted(), ['rules/.env', 'rules/.ssh/config', 'rules/signing.pem']);
  t.notMatch(readFileSync(packed.data.path, 'latin1'), /canary/);
  const manifest = JSON.parse(readFileSync(join(sample.root, 'no-drafts/package.json'), 'utf8'));
  const { files: _, ...open } = manifest;
  put('no-drafts/package.json', JSON.stringify(open));
  const whole = await say('plugin', 'pack', 'no-drafts', '--out', 'b.tgz');
  t.notMatch(readFileSync(whole.data.path, 'latin1'), /canary/);
  for (const [files, found] of [
    [['cases.json'], /`module`/],
    [['rules', 'gone'], /`gone`, and nothing of that name is there/],
    [['../..'], /below its root/],
    ['rules', /expected a list/],
  ] as const) {
    put('no-drafts/package.json', JSON.stringify({ ...manifest, files }));
    const refused = await say('plugin', 'pack', 'no-drafts', '--out', 'c.tgz');
    t.match(refused, { code: 129, error: { code: 'PLUGIN_INVALID', message: found } });
  }
  put('no-drafts/package.json', JSON.stringify(manifest));
  symlinkSync(join(sample.root, 'package.json'), join(sample.root, 'no-drafts/rules/link.js'));
  t.match(await say('plugin', 'pack', 'no-drafts', '--out', 'c.tgz'), {
    code: 129,
    error: { code: 'PLUGIN_INVALID', message: /rules\/link\.js/ },
  });
});

long('`plugin trust` lists the rights it grants and prompts for confirmation', async (t) => {
  const { sample, say, saying } = scene(t);
  await say('plugin', 'new', 'log', 'notary');
  const { digest } = (await say('plugin', 'add', 'notary')).data;
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A log');
  const refused = await say('plugin', 'trust', 'notary');
  t.match(refused, { code: 1, error: { code: 'PLUGIN_UNCONFIRMED' } });
  t.match(refused.err, /connects to log\.notary\.example/);
  t.match(refused.err, /is handed the secret NOTARY_TOKEN/);
  const status = async () => (await say('plugin', 'list')).data.plugins.at(-1).status;
  t.equal(await status(), 'untrusted');
  for (const [stdin, code] of [
    ['no\n', 1],
    ['', 1],
    ['yes\n', 0],
  ] as const)
    t.equal((await saying({ terminal: true, stdin }, 'plugin', 'trust', 'notary')).code, code, stdin);
  t.equal(await status(), 'trusted');
  t.match(await say('plugin', 'trust', 'notary', '--remove'), { code: 0, data: { digest, trusted: false } });
  t.match(await say('plugin', 'trust', digest), {
    code: 0,
    data: { digest, name: 'notary', parts: [{ kind: 'log', name: 'notary' }] },
  });
  const unknown = await say('plugin', 'trust', `sha256:${'0f'.repeat(32)}`);
  t.equal(unknown.code, 0);
  t.match(unknown.err, /names no package that is known here/);
  t.notOk('name' in unknown.data);
  t.match(await say('plugin', 'trust', 'nobody'), { code: 129, error: { code: 'USAGE' } });
  writeFileSync(join(sample.root, 'notary/README.md'), 'changed\n');
  t.match(await say('plugin', 'trust', 'notary', '--yes'), {
    code: 129,
    error: { code: 'USAGE', message: /is two things/ },
  });
});
