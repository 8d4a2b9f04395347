import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gitEvidence } from '../../../api/verify/git-evidence.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { sealedPlace } from './place.ts';

const place = await sealedPlace();
const { sample, commit, base, runId, verify } = place;
const { git, root } = sample;
t.teardown(() => sample.remove());

const repository = await openRepository(root);
const { store } = await findRun(builtInStores, repository, systemClock, runId);
const source = await gitEvidence(repository, store, runId, commit);
if (source === undefined) throw new Error('no evidence');
/** Genuine evidence of the sealed change, to be landed under any name. */
const evidence = await formatEvidenceFile(runId, source);

const refused = { code: 129, error: { code: 'TARGET_AMBIGUOUS' } };

t.test('a file named like an unsealed tag is ambiguous and does not verify as the tag', async (t) => {
  git('tag', 'v1.0.0', base);
  writeFileSync(join(root, 'v1.0.0'), evidence);
  const found = await verify('v1.0.0');
  t.match(found, refused);
  t.match(found.error?.message, /the file of that name/);
  t.match(found.error?.message, base, 'both are told');
  t.match(found.error?.details.meanings, [
    { kind: 'file' },
    { kind: 'commit', commit_sha: base, named: 'refs/tags/v1.0.0' },
  ]);
  t.equal((await verify('v1.0.0', '--commit')).code, 3, 'the tag is not sealed');
  t.equal((await verify('v1.0.0', '--file')).code, 0);
  t.equal((await verify('./v1.0.0')).code, 0);
  t.match(await verify('v1.0.0', '--run'), { code: 3, error: { code: 'VERIFY_NOTHING' } }, 'no such run');
});

long('a file named like a branch, tag or remote ref is ambiguous', async (t) => {
  mkdirSync(join(root, 'release'), { recursive: true });
  for (const name of ['v2.json', 'rel.sigstore.json', 'release/1.0', 'stable', 'x.jsonl', 'y.tlog-proof']) {
    writeFileSync(join(root, name), evidence);
    for (const kind of ['tag', 'branch']) {
      git(kind, name, base);
      t.match(await verify(name), refused, `${kind} ${name}`);
      git(kind, kind === 'tag' ? '-d' : '-D', name);
    }
    git('update-ref', `refs/remotes/${name}`, base);
    t.match(await verify(name), refused, `remote ${name}`);
    git('update-ref', '-d', `refs/remotes/${name}`);
  }
});

t.test('a target name that is too long for a file is looked up as a ref only', async (t) => {
  t.match(await verify('x'.repeat(300)), { code: 128, error: { code: 'REF_NOT_FOUND' } });
  t.match(await verify('x'.repeat(5_000)), { code: 129, error: { code: 'REF_INVALID' } });
});

long('a file named like a version is not accepted in place of a tag', async (t) => {
  const names = ['v3.0.0', 'release/3.0', 'next', 'v2.0.rc1', '1.x', 'release/2.x', 'v1.0.Final', '3.12.0b1'];
  for (const name of [...names, 'v4.json.rc1', 'v1.JSON', 'evidence.txt']) {
    writeFileSync(join(root, name), evidence);
    const found = await verify(name);
    t.match(found, { code: 129, error: { code: 'USAGE' } }, name);
    t.match(found.error?.hints, [`to verify the file of that name: \`--file ${name}\`, or \`./${name}\``]);
  }
});

t.test('`HEAD` is the checked-out commit, even if a file or tag has that name', async (t) => {
  writeFileSync(join(root, 'HEAD'), 'x');
  git('update-ref', 'refs/tags/HEAD', base);
  t.match(await verify('HEAD'), { code: 0, data: { targets: [{ commit_sha: commit }] } });
  t.match(await verify('HEAD~1', '--commit'), { code: 3 });
  git('update-ref', '-d', 'refs/tags/HEAD');
});

t.test('a tag and a branch of one name are ambiguous unless both name the same commit', async (t) => {
  git('branch', 'twice', base);
  git('tag', 'twice', commit);
  for (const line of [['twice'], ['twice', '--commit'], ['twice~0']]) {
    const found = await verify(...line);
    t.match(found, refused, line.join(' '));
    t.match(found.error?.message, /refs\/tags\/twice/);
    t.match(found.error?.message, /refs\/heads\/twice/);
  }
  t.equal((await verify('refs/heads/twice')).code, 3);
  t.equal((await verify('refs/tags/twice')).code, 0);
  git('branch', '-f', 'twice', commit);
  t.equal((await verify('twice')).code, 0);
});

t.test('a branch named like a commit prefix is ambiguous with that commit', async (t) => {
  const short = base.slice(0, 8);
  git('branch', short, commit);
  const found = await verify(short);
  t.match(found, refused);
  t.match(found.error?.message, base);
  git('branch', `v9-1-g${short}`, commit);
  t.match(await verify(`v9-1-g${short}`), refused, 'what `git describe` says, too');
  git('update-ref', `refs/heads/${base}`, commit);
  t.match(
    await verify(base),
    refused,
    'git itself is of two minds about a branch that is called like a whole id',
  );
  git('update-ref', '-d', `refs/heads/${base}`);
  t.match(await verify(base), { code: 3 });
  t.equal((await verify(commit.slice(0, 10))).code, 0);
});

t.test('a run prefix that also names a commit or another run is refused with all its meanings', async (t) => {
  const prefix = runId.slice(0, 8);
  t.match(await verify(prefix), { code: 0, data: { targets: [{ run_id: runId }] } });
  t.equal((await verify(runId)).code, 0);
  git('branch', prefix, base);
  const found = await verify(prefix);
  t.match(found, refused);
  t.match(found.error?.details.meanings, [
    { kind: 'run', run_id: runId },
    { kind: 'commit', commit_sha: base },
  ]);
  t.equal((await verify(prefix, '--run')).code, 0);
  t.equal((await verify(prefix, '--commit')).code, 3);
  git('branch', '-D', prefix);
  const other = `${runId.slice(0, -1)}${runId.endsWith('0') ? '1' : '0'}`;
  git('update-ref', `refs/ai/runs/${other}`, git('rev-parse', `refs/ai/runs/${runId}`));
  const two = await verify(prefix);
  t.match(two, refused);
  t.match(two.error?.message, other);
  git('update-ref', '-d', `refs/ai/runs/${other}`);
});

t.test('a run named like a prefix of another run makes that prefix ambiguous', async (t) => {
  const genuine = git('rev-parse', `refs/ai/runs/${runId}`);
  for (const length of [4, 13, 35]) {
    const planted = runId.slice(0, length);
    git('update-ref', `refs/ai/runs/${planted}`, genuine);
    for (const line of [[planted], [planted, '--run']]) {
      const found = await verify(...line);
      t.match(found, refused, line.join(' '));
      t.same(found.error?.details.meanings.map((one: { run_id: string }) => one.run_id).sort(), [
        planted,
        runId,
      ]);
    }
    t.equal((await verify(runId)).code, 0, 'its whole id names it');
    git('update-ref', '-d', `refs/ai/runs/${planted}`);
  }
  git('update-ref', `refs/ai/runs/${runId}0`, genuine);
  t.equal((await verify(runId)).code, 0, 'nor can a longer one');
  git('update-ref', '-d', `refs/ai/runs/${runId}0`);
});

long('each target of a call is resolved by itself, and one ambiguous target fails the call', async (t) => {
  writeFileSync(join(root, 'evidence.json'), evidence);
  const { code, data } = await verify(commit, runId, 'evidence.json', './evidence.json');
  t.equal(code, 0);
  t.match(data.targets, [{ kind: 'run' }, { kind: 'run' }, { kind: 'evidence' }, { kind: 'evidence' }]);
  t.match(await verify(commit, 'v1.0.0'), refused);
  t.equal((await verify('v1.0.0', 'evidence.json', '--file')).code, 0);
  for (const name of ['e.jsonl', 'e.sigstore', 'e.bundle', 'e.intoto']) {
    writeFileSync(join(root, name), evidence);
    t.not((await verify(name)).error?.code, 'USAGE', name);
  }
  t.match(await verify('v1.0.0', '--file', '--commit'), { code: 129, error: { code: 'USAGE' } });
});
