import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { answerVcsQuestion, parseVcsCall } from '../../../session/vcs/answer-vcs-question.ts';
import {
  makeVcsChange,
  openSessionRepository,
  planVcsChange,
} from '../../../session/vcs/change-repository.ts';
import { long } from '../../rooms/long.ts';
import { armRepository, personRepository } from './person-repository.ts';

const { signal } = new AbortController();

/** Makes a call as a tool does, everything allowed; a refusal is its code. */
async function call(root: string, line: string, ...more: readonly string[]): Promise<string> {
  const [command = '', ...args] = line.split(' ');
  const read = parseVcsCall(command, [...args, ...more]);
  if (typeof read === 'string') return `refused: ${read}`;
  try {
    const repository = await openSessionRepository(root);
    if (read.question !== undefined) return (await answerVcsQuestion(repository, read.question, signal)).text;
    return await makeVcsChange(repository, await planVcsChange(repository, read.change, signal), signal);
  } catch (fault) {
    return `${(fault as { code?: string }).code}: ${(fault as Error).message}`;
  }
}

long('no VCS call runs a program that the repository or a submodule names', async (t) => {
  const person = personRepository();
  const { root, git, write } = person;
  const { hasRun } = armRepository(person);
  rmSync(join(person.home, 'ran'), { force: true });
  write('a.txt', 'three\n');
  write('new.txt', 'new\n');
  const lines = [
    'status',
    'status --json',
    'status --porcelain v2 --untracked-files=all',
    'diff',
    'diff --cached',
    'diff HEAD~1 HEAD',
    'diff HEAD~2...HEAD --stat',
    'log',
    'log --stat',
    'log -n 2 -- a.txt',
    'show',
    'show HEAD:b.dat',
    'branch',
    'branch -a',
    'show-ref --head',
    'ls-files',
    'ls-files --modified --others --exclude-standard',
    'add a.txt new.txt',
    'add sub',
    'commit -m made',
    'branch side',
    'branch -d side',
    'switch -c further',
    'switch --detach HEAD~1',
    'switch further',
  ];
  for (const line of lines) {
    const told = await call(root, line);
    t.notMatch(told, /^(?:refused|undefined|INTERNAL|GIT_FAILED)/, `${line}: ${told.slice(0, 200)}`);
    t.notMatch(told, /\u001b/, `${line}: no colour`);
    t.notOk(hasRun(), `after ${line}: ${hasRun() ? readFileSync(join(person.home, 'ran'), 'utf8') : ''}`);
    rmSync(join(person.home, 'ran'), { force: true });
  }
  t.match(await call(root, 'log -n 1 --oneline further'), /made/);
  t.match(
    git('-c', 'core.fsmonitor=false', 'cat-file', '-p', 'further'),
    /^author Person <person@example.org>/m,
  );
  t.notMatch(git('-c', 'core.fsmonitor=false', 'cat-file', '-p', 'further'), /gpgsig/);
});

long('a file with a git filter is neither staged nor checked out', async (t) => {
  const person = personRepository();
  armRepository(person);
  person.write('b.dat', 'a secret that the filter encrypts\n');
  t.match(await call(person.root, 'add .'), /^UNSUPPORTED_OPERATION: `b.dat` goes through the filter `x`/);
  t.match(await call(person.root, 'switch topic'), /^UNSUPPORTED_OPERATION: `b.dat` goes through/);
  t.match(await call(person.root, 'add .gitattributes'), /^nothing to stage/);
});

t.test('a change that differs from the approved one is refused', async (t) => {
  const { root, write, git } = personRepository();
  const repository = await openSessionRepository(root);
  const plan = async (line: string, ...more: readonly string[]) => {
    const [command = '', ...args] = line.split(' ');
    const read = parseVcsCall(command, [...args, ...more]);
    if (typeof read === 'string' || read.change === undefined) throw new Error(line);
    return planVcsChange(repository, read.change, signal);
  };
  write('a.txt', 'three\n');
  git('add', 'a.txt');
  const commit = await plan('commit -m approved');
  write('later.txt', 'staged behind his back\n');
  git('add', 'later.txt');
  await t.rejects(makeVcsChange(repository, commit, signal), { code: 'WORKSPACE_CHANGED' });
  const add = await plan('add .');
  write('more.txt', 'more\n');
  await t.rejects(makeVcsChange(repository, add, signal), { code: 'WORKSPACE_CHANGED' });
  const removal = await plan('branch other').then(async (one) => {
    await makeVcsChange(repository, one, signal);
    return plan('branch -D other');
  });
  git('branch', '--force', 'other', 'HEAD~1');
  await t.rejects(makeVcsChange(repository, removal, signal), { code: 'WORKSPACE_CHANGED' });
  t.equal(git('rev-list', '--count', 'HEAD').trim(), '2');
});

await long('links, nested repositories and unknown commits are refused', async (t) => {
  const { root, home, git, write } = personRepository();
  writeFileSync(join(home, 'outside.txt'), 'outside\n');
  symlinkSync(home, join(root, 'way'));
  t.match(await call(root, 'add way/outside.txt'), /^(?:GIT_FAILED|nothing to stage)/);
  t.notMatch(git('ls-files'), /outside/);
  mkdirSync(join(root, 'nested'));
  git('-C', 'nested', 'init', '--quiet', '--template=');
  git(
    '-C',
    'nested',
    '-c',
    'user.name=x',
    '-c',
    'user.email=x@example.org',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'x',
  );
  t.match(await call(root, 'add nested'), /^UNSUPPORTED_OPERATION: `nested\/` is another git repository/);
  t.match(await call(root, 'show nowhere'), /^REF_NOT_FOUND/);
  t.match(await call(root, 'switch nowhere'), /^REF_NOT_FOUND/);
  t.match(await call(root, 'show HEAD:way/outside.txt'), /^INPUT_UNREADABLE/);
  t.match(await call(root, 'commit -m x'), /^UNSUPPORTED_OPERATION: nothing is staged/);
  write('*.txt', 'literal\n');
  t.match(await call(root, 'add *.txt'), /"\*\.txt"/);
  t.notMatch(git('diff', '--cached', '--name-only'), /a\.txt/);
});

await long('a repository without a commit can be read and gets its first commit', async (t) => {
  const { root, git, write } = personRepository();
  git('switch', '--quiet', '--orphan', 'empty');
  t.match(JSON.parse(await call(root, 'status --json')), { head: null, branch: 'empty', changes: [] });
  t.match(await call(root, 'log'), /^REF_NOT_FOUND/);
  t.equal(await call(root, 'branch --show-current'), 'empty');
  write('first.txt', 'first\n');
  t.match(await call(root, 'add first.txt'), /^staged 1/);
  t.match(await call(root, 'commit -m', 'begun: "first"\n\n# a line that stays'), /commit 1 file/);
  t.match(git('log', '-1', '--format=%B'), /^begun: "first"\n\n# a line that stays\n/);
});
