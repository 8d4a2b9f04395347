import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outputOf } from '../../starter/run-program.ts';

/** Content of a file; `link` makes it a symlink, `exec` executable. */
export type SampleFile = string | Uint8Array | { readonly link: string } | { readonly exec: string };

export interface SampleRepository {
  readonly dir: string;
  git(...args: string[]): string;
  gitInput(input: string | Uint8Array, ...args: string[]): string;
  write(files: Readonly<Record<string, SampleFile>>): void;
  /** Writes, adds and commits; answers the commit id. */
  commit(files: Readonly<Record<string, SampleFile>>, message?: string): string;
}

process.env.GIT_CONFIG_GLOBAL = '/dev/null';
process.env.GIT_CONFIG_NOSYSTEM = '1';
process.env.GIT_AUTHOR_NAME = process.env.GIT_COMMITTER_NAME = 'Sample Author';
process.env.GIT_AUTHOR_EMAIL = process.env.GIT_COMMITTER_EMAIL = 'sample@example.com';

/** A real repository on branch `main`, made with the git on PATH, without anybody's config. */
export function makeRepository(dir: string, ...initArgs: string[]): SampleRepository {
  mkdirSync(dir, { recursive: true });
  const run = (args: readonly string[], input?: string | Uint8Array): string =>
    outputOf('git', args, { cwd: dir, ...(input === undefined ? {} : { input }) }).toString();
  const sample: SampleRepository = {
    dir,
    git: (...args) => run(args),
    gitInput: (input, ...args) => run(args, input),
    write(files) {
      for (const [path, content] of Object.entries(files)) {
        const full = join(dir, path);
        mkdirSync(dirname(full), { recursive: true });
        if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(full, content);
        else if ('link' in content) symlinkSync(content.link, full);
        else {
          writeFileSync(full, content.exec);
          chmodSync(full, 0o755);
        }
      }
    },
    commit(files, message = 'sample') {
      sample.write(files);
      run(['add', '-A']);
      run(['commit', '-q', '--allow-empty', '-m', message]);
      return run(['rev-parse', 'HEAD']).trim();
    },
  };
  run(['init', '-q', '-b', 'main', ...initArgs]);
  return sample;
}
