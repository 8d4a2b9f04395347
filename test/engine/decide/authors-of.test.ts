import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { authorsOf } from '../../../engine/decide/people.ts';
import type { Attempt, RunIdentity } from '../../../engine/state/open-run.ts';
import type { Authorship } from '../../../store/record/gate-report.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';

const runner = 'Sample maintainer <maintainer@sample.example>';
const identity = ['AUTHOR', 'COMMITTER'].flatMap((who) => [`GIT_${who}_NAME`, `GIT_${who}_EMAIL`]);
const ofContract = ['ann', 'coder'];

const directory = mkdtempSync(join(tmpdir(), 'writ-decide-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const sample = makeRepository(directory);
sample.commit({ 'a.txt': 'a\n' });
sample.git('config', 'user.name', 'Sample maintainer');
sample.git('config', 'user.email', 'maintainer@sample.example');

async function authorsWith(
  authorship: Authorship,
  more: Partial<RunIdentity> = {},
): Promise<readonly string[]> {
  const repository = await openRepository(sample.dir);
  // Who runs is who the repository's config names; other files of the room say otherwise in the environment.
  const others = identity.map((name) => [name, process.env[name]] as const);
  for (const name of identity) delete process.env[name];
  try {
    return await askAuthors(repository, authorship, more);
  } finally {
    for (const [name, value] of others) if (value !== undefined) process.env[name] = value;
  }
}

function askAuthors(
  repository: Repository,
  authorship: Authorship,
  more: Partial<RunIdentity>,
): Promise<readonly string[]> {
  return authorsOf({
    identity: {
      authorship,
      contract: {
        effective: {
          metadata: { createdBy: { type: 'user', id: 'ann' } },
          objmodel: { actorMapping: { coderActorId: 'coder' } },
        },
      },
      tip: undefined,
      ...more,
    },
    environment: { repository, base: {} },
  } as unknown as Attempt);
}

t.test('the creator of the spec is listed as an author by id and display name', async (t) => {
  const createdBy = { type: 'user', id: 'ann', displayName: 'Ann <ann@x>' };
  const contract = {
    effective: { metadata: { createdBy }, objmodel: { actorMapping: { coderActorId: 'coder' } } },
  };
  const named = await authorsWith({ authors: ['Eve <eve@x>'], committers: [] }, {
    contract,
  } as unknown as Partial<RunIdentity>);
  t.strictSame(named, ['ann', 'Ann <ann@x>', 'coder', 'Eve <eve@x>']);
});

t.test('the user who resumes a run is not an author when the record names other people', async (t) => {
  t.strictSame(await authorsWith({ authors: ['Eve <eve@x>'], committers: ['Kim <kim@x>'] }), [
    ...ofContract,
    'Eve <eve@x>',
    'Kim <kim@x>',
  ]);
  t.strictSame(await authorsWith({ authors: [], committers: [], broughtBy: 'Bo <bo@x>' }), [
    ...ofContract,
    'Bo <bo@x>',
  ]);
});

t.test('the user who continues a run is an author when the record names no people', async (t) => {
  t.strictSame(await authorsWith({ authors: [], committers: [] }), [...ofContract, runner]);
});

t.test('recorded authors are added to the authors that the commits name', async (t) => {
  const message = 'Thing\n\nco-authored-by: Yan <yan@x>\n\nmore words';
  sample.git('commit', '-q', '--allow-empty', '--author', 'Zoe <zoe@x>', '-m', message);
  const tip = sample.git('rev-parse', 'HEAD').trim();
  const found = await authorsWith({ authors: ['Eve <eve@x>'], committers: [] }, { tip });
  for (const name of ['Eve <eve@x>', 'Zoe <zoe@x>', 'Yan <yan@x>']) t.ok(found.includes(name), name);
  t.strictSame(
    await authorsWith({ authors: ['Eve <eve@x>'], committers: [] }, { tip: '1'.repeat(40) }),
    [...ofContract, 'Eve <eve@x>'],
    'commits that are not here name nobody here',
  );
});
