import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Refs that nobody of good will writes, by name; each spoils itself alone. */
export function plantHostileRefs(
  gitDir: string,
  env: Readonly<Record<string, string>>,
  goodRun: string,
): readonly string[] {
  const git = (args: readonly string[], input?: string | Buffer): string =>
    execFileSync('git', args, {
      cwd: gitDir,
      env: { ...env, ...identity },
      input: input ?? '',
      maxBuffer: 1 << 28,
    })
      .toString()
      .trim();
  const blob = (bytes: string | Buffer): string => git(['hash-object', '-w', '--stdin'], bytes);
  const tree = (lines: string | Buffer): string => git(['mktree', '-z', '--missing'], lines);
  const commit = (of: string): string => git(['commit-tree', of, '-m', 'x']);
  const literally = (type: string, bytes: Buffer | string): string =>
    git(['hash-object', '-w', '-t', type, '--literally', '--stdin'], bytes);
  const small = blob('{}\n');
  const nested = blob('['.repeat(200_000));
  const huge = blob(Buffer.alloc(300 * 1024 * 1024, 32));
  const missing = 'dead'.repeat(10);
  const record = (object: string): string =>
    tree(
      ['run.json', 'intent.json', 'decision.json', 'gate-report.json', 'effective.json', 'waiting.json']
        .map((name) => `100644 blob ${object}\t${name}\0`)
        .sort()
        .join(''),
    );
  const many = tree(
    Array.from({ length: 300_000 }, (_, at) => `100644 blob ${small}\t${String(at).padStart(7, '0')}\0`).join(
      '',
    ),
  );
  const folders = Array.from({ length: 100 }).reduce<string>(
    (below) => tree(`040000 tree ${below}\td\0`),
    record(small),
  );
  const names = tree(
    Buffer.concat([
      Buffer.from(`100644 blob ${small}\t`),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from('\0'),
    ]),
  );
  const refs: Record<string, string> = {
    'runs/a-blob': small,
    'runs/a-tree': record(small),
    'runs/a-tag': git(
      ['mktag'],
      `object ${commit(record(small))}\ntype commit\ntag x\ntagger A <a@example.com> 0 +0000\n\n`,
    ),
    'runs/empty-objects': commit(record(small)),
    'runs/nested': commit(record(nested)),
    'runs/huge': commit(record(huge)),
    'runs/many': commit(many),
    'runs/deep': commit(folders),
    'runs/names': commit(names),
    'runs/absent-blob': commit(record(missing)),
    'runs/absent-tree': literally(
      'commit',
      `tree ${missing}\nauthor A <a@example.com> 0 +0000\ncommitter A <a@example.com> 0 +0000\n\nx\n`,
    ),
    'runs/no-commit': literally('commit', 'no headers at all'),
    'runs/no-tree': commit(literally('tree', 'nothing of a tree')),
    [`runs/${'l'.repeat(180)}`]: commit(record(small)),
    'runs/a%2Fb%0a%zz': commit(record(small)),
    [`approvals/${goodRun}/901`]: small,
    [`approvals/${goodRun}/902`]: commit(tree(`100644 blob ${huge}\tapproval.json\0`)),
    [`approvals/${goodRun}/903`]: commit(many),
    'content/huge': commit(tree(`100644 blob ${huge}\tpatchset.diff\0`)),
    'intents/nested': commit(tree(`100644 blob ${nested}\tintent.json\0`)),
    'plans/many': commit(many),
    'context/names': commit(names),
    'elsewhere/runs/huge': commit(record(huge)),
  };
  for (const [name, object] of Object.entries(refs)) {
    // As a remote could leave them: git itself would not make all of these.
    const path = join(gitDir, 'refs', 'ai', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${object}\n`);
  }
  return Object.keys(refs).map((name) => `refs/ai/${name}`);
}

const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};
