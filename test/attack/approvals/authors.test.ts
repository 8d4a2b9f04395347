import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatJournal } from '../../../store/journal-witness.ts';
import { readJournal } from '../../../store/parse-journal.ts';
import { long } from '../../rooms/long.ts';
import { ann, ben, fix, People, runner, uncounted, wanting } from './people.ts';
import { runWrit } from './run-writ.ts';

process.env.GIT_CONFIG_GLOBAL = '/dev/null';
process.env.GIT_CONFIG_NOSYSTEM = '1';

const bare = { kind: 'patch', bytes: fix } as const;

function mailOf(from: string, text = ''): Buffer {
  return Buffer.from(
    `From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: ${from}\nSubject: [PATCH] Exact prices\n\n${text}---\n\n${fix.toString()}-- \n2.40\n`,
  );
}

/** Writes the journal of a run anew, its chain included: what whoever can write the file can do. */
async function forgeJournal(
  people: People,
  runId: string,
  change: (type: string, data: Record<string, unknown>) => Record<string, unknown>,
  more: readonly { readonly type: string; readonly data: unknown }[] = [],
): Promise<void> {
  const path = join(people.sample.root, '.git', 'writ', 'runs', runId, 'journal.jsonl');
  const { records } = await readJournal(path);
  const at = records.at(-1)?.at ?? '';
  const forged = records.map((one) => ({
    ...one,
    data: change(one.type, one.data as Record<string, unknown>),
  }));
  writeFileSync(path, formatJournal([...forged, ...more.map((one) => ({ at, ...one }))]).bytes);
}

long('the user who supplies a bare diff cannot approve it', async (t) => {
  const people = new People(t);
  const view = await people.sample.run({ source: bare }, wanting(1));
  await people.approve(view.runId, runner);
  const still = await people.resume(view.runId);
  t.equal(still.state, 'waiting');
  t.strictSame(uncounted(still), ['author']);
});

long('a forged journal without authors does not let the runner approve their own change', async (t) => {
  const people = new People(t);
  const base = people.sample.git('rev-parse', 'main');
  const view = await people.sample.run({ source: bare }, wanting(1));
  await people.approve(view.runId, runner);
  await forgeJournal(
    people,
    view.runId,
    (type, data) =>
      type === 'run-started' ? { ...data, authorship: { authors: [], committers: [] } } : data,
    ['authors', 'local/authors'].map((step) => ({ type: 'step-ended', data: { step, answer: [] } })),
  );
  const still = await people.resume(view.runId).catch((fault: unknown) => fault);
  t.not((still as { readonly decision?: { readonly type: string } }).decision?.type, 'commit');
  t.equal(people.sample.git('rev-parse', 'main'), base);
});

long(
  'a change does not land when a forged journal names another author after approvals were signed',
  async (t) => {
    const people = new People(t);
    const base = people.sample.git('rev-parse', 'main');
    const view = await people.sample.run({ source: bare }, wanting(2));
    await people.approve(view.runId, ann);
    await people.approve(view.runId, runner);
    await forgeJournal(people, view.runId, (type, data) => {
      if (type === 'run-started')
        return { ...data, authorship: { authors: ['Nobody <nobody@sample.example>'], committers: [] } };
      return /\/shown\//.test(String(data.step)) ? {} : data;
    });
    const still = await people.resume(view.runId).catch((fault: unknown) => fault);
    t.not((still as { readonly decision?: { readonly type: string } }).decision?.type, 'commit');
    t.equal(people.sample.git('rev-parse', 'main'), base);
  },
);

long('a resume by an approver keeps the approvals, and the commit names the real author', async (t) => {
  const people = new People(t);
  const { sample } = people;
  const view = await sample.run({ source: bare }, wanting(2));
  await people.approve(view.runId, ann);
  await people.approve(view.runId, ben);
  sample.git('config', 'user.name', 'Ann');
  sample.git('config', 'user.email', ann);
  const done = await people.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('show', '-s', '--format=%ae %ce', 'main'), `${runner} ${ann}`);
  const verified = runWrit(sample, 'verify', view.runId, '--allowed-signers', people.signers, '--replay');
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

long('the sender and co-authors of a mail cannot approve it, but the user who runs it can', async (t) => {
  const people = new People(t);
  const { sample } = people;
  const bytes = mailOf(`Ann <${ann}>`, `Words.\n\nCo-authored-by: Ben <${ben}>\n`);
  const view = await sample.run({ source: { kind: 'patch', bytes } }, wanting(1));
  await people.approve(view.runId, ann);
  await people.approve(view.runId, ben);
  const still = await people.resume(view.runId);
  t.strictSame(uncounted(still), ['author', 'author']);
  await people.approve(view.runId, runner);
  const done = await people.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('show', '-s', '--format=%an <%ae>', 'main'), `Ann <${ann}>`);
  t.match(sample.git('show', '-s', '--format=%B', 'main'), new RegExp(`^Co-authored-by: Ben <${ben}>$`, 'm'));
  const verified = runWrit(sample, 'verify', view.runId, '--allowed-signers', people.signers, '--replay');
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

long('authors, committers and co-authors of a range cannot approve it', async (t) => {
  const people = new People(t);
  const { sample } = people;
  sample.git('checkout', '--quiet', '-b', 'topic');
  writeFileSync(join(sample.home, 'fix.diff'), fix);
  sample.git('apply', join(sample.home, 'fix.diff'));
  sample.git('add', '--all');
  const message = `Exact prices\n\nCo-authored-by: Ben <${ben}>\n\nwords behind it`;
  const asAnn = ['-c', 'user.name=Ann', '-c', `user.email=${ann}`];
  sample.git(...asAnn, 'commit', '--quiet', '-m', message, '--author', 'Zoe <zoe@sample.example>');
  sample.git('checkout', '--quiet', 'main');
  const view = await sample.run({ source: { kind: 'range', range: 'main..topic' } }, wanting(1));
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  await people.approve(view.runId, ann);
  await people.approve(view.runId, ben);
  t.strictSame(uncounted(await people.resume(view.runId)), ['author', 'author']);
  await people.approve(view.runId, runner);
  const done = await people.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('show', '-s', '--format=%ae', 'main'), 'zoe@sample.example');
  const verified = runWrit(sample, 'verify', view.runId, '--allowed-signers', people.signers, '--replay');
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

long('a run that needs approval is refused when the author of the change is unknown', async (t) => {
  const people = new People(t);
  people.sample.git('config', '--unset', 'user.email');
  people.sample.git('config', '--unset', 'user.name');
  await t.rejects(people.sample.run({ source: bare }, wanting(1)), { code: 'AUTHOR_UNKNOWN' });
  const mail = { kind: 'patch', bytes: mailOf(`Ann <${ann}>`) } as const;
  t.equal((await people.sample.run({ source: mail }, wanting(1))).state, 'waiting');
  t.equal((await people.sample.run({ source: bare })).decision?.type, 'commit', 'nobody has to approve');
});

long('`writ approve` exits with 1 and says why when the approval does not count', async (t) => {
  const people = new People(t);
  const { sample } = people;
  const view = await sample.run({ source: bare }, wanting(1));
  const approve = (person: string) =>
    runWrit(sample, 'approve', view.runId, '--key', people.key(person), '--as', person);
  t.match(approve(runner), {
    status: 1,
    error: { code: 'APPROVAL_NOT_COUNTED', details: { status: 'author' } },
  });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', people.key('eve')]);
  t.match(approve('eve'), { status: 1, error: { details: { status: 'untrusted-signer' } } });
  t.match(approve(ann), { status: 0, data: { approved: 1 } });
  t.ok(readFileSync(people.signers, 'utf8').includes(ann));
});
