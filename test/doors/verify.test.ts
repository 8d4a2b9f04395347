import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtures, makeSample, type Sample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { compiledPages } from './compiled-pages.ts';
import { type Outsider, runTo } from './packed-package.ts';

t.setTimeout(300_000);

long('the documented program verifies a sealed run and refuses altered evidence', async (t) => {
  const outsider = compiledPages();
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const diff = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const { runId, decision } = await sample.run({ source: { kind: 'patch', bytes: diff } });
  t.equal(decision?.type, 'commit');
  const keys = join(sample.home, '.config', 'writ', 'keys');
  const key = readdirSync(keys).find((name) => /^signing-.*\.pub\.pem$/.test(name)) ?? '';
  // Nobody's home: what is believed is what the program gives.
  const env = { PATH: sample.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const verify = (what: string, name: string, by = join(keys, key)) => {
    const { status, out, err } = runTo(
      process.execPath,
      ['built/verify.js', what, name, by],
      outsider.directory,
      env,
    );
    return { status, said: err.trim(), ...(out === '' ? {} : JSON.parse(out)) };
  };

  for (const target of ['HEAD', decision?.commitSha ?? '', runId]) {
    const { status, said, ...answer } = verify(sample.root, target);
    t.equal(status, 0, said);
    t.match(answer, { verified: true, expected: Number, ran: answer.expected, against: [] }, target);
  }

  const { status: verified, gits } = countGits(outsider, sample);
  t.match({ verified, gits }, { verified: 0, gits: 3 }, 'the command starts few gits');

  const file = join(sample.home, 'evidence.json');
  const writ = join(outsider.installed, 'bin', 'writ.js');
  const exported = runTo(
    process.execPath,
    [writ, 'report', runId, '--bundle', file],
    sample.root,
    sample.env,
  );
  t.equal(exported.status, 0, exported.err);
  t.match(verify('file', file), { status: 0, verified: true });

  const evidence = JSON.parse(readFileSync(file, 'utf8'));
  const patch = evidence.content.find(({ path }: { path: string }) => path === 'patchset.diff');
  patch.data = Buffer.from('another patch\n').toString('base64');
  const touched = join(sample.home, 'touched.json');
  writeFileSync(touched, JSON.stringify(evidence));
  t.match(verify('file', touched), { status: 1, verified: false, against: ['subject-patchset mismatch'] });
  writeFileSync(touched, '{"mediaType":');
  t.match(verify('file', touched), { status: 1, verified: false, against: [/ malformed$/] });

  const other = join(sample.home, 'other.pem');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(other, publicKey.export({ type: 'spki', format: 'pem' }));
  t.match(
    verify(sample.root, 'HEAD', other),
    { status: 1, verified: false, against: [] },
    'by nobody believed',
  );
  t.match(verify(sample.root, 'HEAD', file), { status: 2, said: /^ANCHOR_UNUSABLE: / });
  t.match(verify(sample.root, 'nothing-of-that-name'), { status: 2, said: /^REF_NOT_FOUND: / });
  t.match(verify(sample.home, 'HEAD'), { status: 2, said: /^NOT_A_REPOSITORY: / });
});

/** `writ verify HEAD` of the installed package, with a git that writes down that it was started. */
function countGits({ installed }: Outsider, { root, home, env }: Sample) {
  const bin = join(home, 'bin');
  const log = join(home, 'gits');
  mkdirSync(bin);
  const script = `#!/bin/sh\necho "$*" >> '${log}'\nPATH='${env.PATH}' exec git "$@"\n`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  const args = [join(installed, 'bin', 'writ.js'), 'verify', 'HEAD'];
  const { status } = runTo(process.execPath, args, root, { ...env, PATH: `${bin}:${env.PATH}` });
  return { status, gits: readFileSync(log, 'utf8').trim().split('\n').length };
}
