import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

const skip = withoutSshKeygen;

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const key = makeKey(sample.home, 'ana');
  const signers = join(sample.home, 'signers');
  writeFileSync(signers, `maintainer@sample.example ${publicOf(key)}\n`);
  sample.git('config', 'gpg.format', 'ssh');
  sample.git('config', 'user.signingkey', key);
  const seal = async () => {
    appendFileSync(join(sample.root, 'src/price.js'), '// more\n');
    sample.git('add', 'src');
    const line = ['seal', '-m', 'chore: more', '--check', 'true', '--json'];
    const { code, out } = await runLine(line, commands, { cwd: sample.root, env: sample.env });
    return { code, ...(JSON.parse(out) as { error?: { code: string; message: string } }) };
  };
  const isSigned = (): boolean =>
    sample.git('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'log', '-1', '--format=%G?') === 'G';
  const commitConfig = (text: string): void => {
    mkdirSync(join(sample.root, '.writ'), { recursive: true });
    writeFileSync(join(sample.root, '.writ/config.toml'), text);
    sample.git('add', '-f', '.writ');
    sample.git('commit', '-qm', 'chore: configuration');
  };
  return { ...sample, seal, isSigned, commitConfig };
}

t.test(
  'git signs the sealed commit if it signs others, or if the policy commit says so',
  { skip },
  async (t) => {
    const { git, seal, isSigned, commitConfig } = scene(t);
    t.match(await seal(), { code: 0 });
    t.notOk(isSigned());
    git('config', 'commit.gpgsign', 'true');
    t.match(await seal(), { code: 0 });
    t.ok(isSigned());
    t.match(git('cat-file', 'commit', 'HEAD'), /^author .*\ncommitter .*\ngpgsig /m);
    git('config', '--unset', 'commit.gpgsign');
    commitConfig('[commit]\nsign = true\n');
    t.match(await seal(), { code: 0 });
    t.ok(isSigned());
    commitConfig('[commit]\nsign = false\n');
    git('config', 'commit.gpgsign', 'true');
    t.match(await seal(), { code: 0 });
    t.notOk(isSigned());
  },
);

t.test('a run that cannot sign stops before its work', { skip }, async (t) => {
  const { git, seal, state } = scene(t);
  git('config', 'commit.gpgsign', 'true');
  git('config', 'user.signingkey', '/nowhere/key');
  git('add', '--all');
  const failed = await seal();
  const before = state();
  t.match(failed, { code: 128, error: { code: 'COMMIT_NOT_SIGNED', message: /\/nowhere\/key/ } });
  t.equal(git('for-each-ref', 'refs/ai'), '');
  t.equal(state(), before);
});

t.test('a program that the repository names is not started', { skip }, async (t) => {
  const { git, seal, home } = scene(t);
  const [program, mark] = [join(home, 'program'), join(home, 'started')];
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\nexit 1\n`);
  chmodSync(program, 0o755);
  git('config', 'commit.gpgsign', 'true');
  git('config', 'gpg.ssh.program', program);
  t.match(await seal(), { code: 0 });
  t.match(git('cat-file', 'commit', 'HEAD'), /^gpgsig -----BEGIN SSH SIGNATURE-----$/m);
  t.notOk(existsSync(mark));
  git('config', 'gpg.format', 'openpgp');
  git('config', 'gpg.program', program);
  t.match(await seal(), { code: 128, error: { code: 'COMMIT_NOT_SIGNED' } });
  t.notOk(existsSync(mark));
});
