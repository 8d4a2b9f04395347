import { execFileSync } from 'node:child_process';
import t from 'tap';
import { commitIdOf, parseCommit } from '../../../attest/verify/evidence-source.ts';

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ünal 作者',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.org',
};

for (const format of ['sha1', 'sha256']) {
  t.test(
    `\`parseCommit\` reads the id, tree and trailers of a real ${format} commit as git does`,
    async (t) => {
      const cwd = t.testdir();
      const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd, env });
      git('init', '-q', `--object-format=${format}`);
      const message = 'fix: x\n\nRun-Id: in-the-body\n\nIntent-Id: a: b\nRun-Id: run-1\nnot a trailer\n';
      git('commit', '-q', '--allow-empty', '-m', message);
      const raw = git('cat-file', 'commit', 'HEAD');
      const id = git('rev-parse', 'HEAD').toString().trim();
      t.equal(commitIdOf(raw, id), id);
      const commit = parseCommit(raw);
      t.equal(commit?.tree, git('rev-parse', 'HEAD^{tree}').toString().trim());
      t.same(commit?.trailer('Run-Id'), ['run-1'], 'only the last paragraph speaks');
      t.same(commit?.trailer('Intent-Id'), ['a: b']);
      t.same(commit?.trailer('Intentspec-Digest'), []);
    },
  );
}

t.test('`parseCommit` rejects bytes that are not a commit object', async (t) => {
  for (const text of ['', 'tree abc\n\nx', `parent ${'4'.repeat(40)}\n\nx`, `tree ${'4'.repeat(40)}\n`]) {
    t.equal(parseCommit(Buffer.from(text)), undefined, JSON.stringify(text));
  }
});
