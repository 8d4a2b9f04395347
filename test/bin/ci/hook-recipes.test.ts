import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { makeCiScene } from './ci-scene.ts';
import { readYaml, root } from './run-workflow.ts';

const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };
const page = readFileSync(join(root, 'docs/guides/hooks.md'), 'utf8');
const names = ['pre-commit', 'commit-msg', 'pre-push'] as const;
type Name = (typeof names)[number];

/** The code block of a section of the page. */
function blockOf(section: string): string {
  return new RegExp(`## ${section}\\n.*?\`\`\`\\w+\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
}

interface PreCommitHook {
  readonly id: string;
  readonly entry: string;
  readonly pass_filenames?: boolean;
  readonly stages: readonly Name[];
}

interface Lefthook {
  readonly commands: { readonly writ: { readonly run: string; readonly use_stdin?: boolean } };
}

/** The script of a hook, as each manager starts what it was given. */
const managers: Readonly<Record<string, (name: Name, clone: string) => string>> = {
  husky(name, clone) {
    mkdirSync(join(clone, '.husky'), { recursive: true });
    spawnSync('sh', ['-ec', blockOf('husky')], { cwd: clone });
    return readFileSync(join(clone, '.husky', name), 'utf8');
  },
  lefthook(name) {
    const { run, use_stdin: hasInput } = (load(blockOf('lefthook')) as Record<Name, Lefthook>)[name].commands
      .writ;
    return `${run.replace('{1}', '"$1"')}${hasInput ? '' : ' < /dev/null'}\n`;
  },
  'pre-commit'(name) {
    const used =
      (load(blockOf('pre-commit')) as { repos: { hooks: { id: string }[] }[] }).repos[0]?.hooks ?? [];
    const hook = readYaml<readonly PreCommitHook[]>('.pre-commit-hooks.yaml').find(
      ({ id, stages }) => stages.includes(name) && used.some((one) => one.id === id),
    );
    const files = hook?.pass_filenames === false ? '' : ' "$@"';
    return `export PRE_COMMIT_LOCAL_BRANCH=HEAD PRE_COMMIT_REMOTE_BRANCH=refs/heads/main PRE_COMMIT_REMOTE_NAME="$1"
${hook?.entry ?? 'exit 9'}${files} < /dev/null\n`;
  },
};

long('hooks of the page, as a hook manager calls them', async (t) => {
  const scene = await makeCiScene(t);
  const token = `ghp_${'1a2B3c4D5e'.repeat(4).slice(0, 36)}`;
  for (const [manager, scriptOf] of Object.entries(managers)) {
    await t.test(`${manager} refuses what is staged, said and pushed`, async (t) => {
      const { clone, env } = scene.person(manager);
      for (const name of names) {
        const path = join(clone, '.git/hooks', name);
        mkdirSync(join(clone, '.git/hooks'), { recursive: true });
        writeFileSync(path, `#!/bin/sh -e\n${scriptOf(name, clone)}`);
        chmodSync(path, 0o755);
      }
      const git = (...args: readonly string[]) =>
        spawnSync('git', args, { cwd: clone, env, encoding: 'utf8' });
      const stage = (path: string, text: string): void => {
        writeFileSync(join(clone, path), text);
        git('add', path);
      };
      stage('fine.js', 'export const fine = 1;\n');
      t.match(git('commit', '-qm', 'fine'), { status: 0 });
      t.match(git('push', '-q', 'origin', `HEAD:refs/heads/${manager}`), { status: 0 });
      stage('bad.js', `export const key = '${token}';\n`);
      t.match(git('commit', '-qm', 'bad'), { status: 1, stderr: /SCAN_FOUND/ });
      t.match(git('commit', '-qnm', 'bad'), { status: 0 });
      t.match(git('push', '-q', 'origin', `HEAD:refs/heads/${manager}`), { status: 1, stderr: /SCAN_FOUND/ });
      git('push', '-q', '--no-verify', 'origin', `HEAD:refs/heads/${manager}`);
      git('init', '-q', '--bare', join(clone, '.git/public'));
      git('remote', 'add', 'public', join(clone, '.git/public'));
      const published = git('push', '-q', 'public', 'HEAD:refs/heads/other');
      t.match(published, { status: 1, stderr: /SCAN_FOUND/ }, 'another remote has it');
      stage('more.js', 'export const more = 1;\n');
      t.match(git('commit', '-qm', `more ${token}`), { status: 1, stderr: /message contains a token/ });
    });
  }
});
