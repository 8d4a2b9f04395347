import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writProgram } from '../starter/program.ts';
import { firstDifference } from './same-output.ts';

interface Block {
  /** What a reader pastes into a shell. */
  readonly commands: string;
  /** What the page says that it prints: the block `text` right below it. */
  readonly shown: string | undefined;
}

/** The blocks `sh` of a page in order, without those below a comment `<!-- not run: WHY -->`. */
export function blocksOf(page: string): readonly Block[] {
  const source = readFileSync(join(import.meta.dirname, '../..', page), 'utf8');
  const found = source.matchAll(
    /(<!-- not run: .*-->\n+)?^ *```sh\n([\s\S]*?)^ *```\n(?:\n *```text\n([\s\S]*?)^ *```$)?/gm,
  );
  return [...found].flatMap(([, notRun, commands = '', shown]) =>
    notRun === undefined ? [{ commands, shown }] : [],
  );
}

/** A person whom git knows by name, and nothing else that a machine may have set up. */
const person = {
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana Example',
  GIT_AUTHOR_EMAIL: 'ana@example.org',
  GIT_COMMITTER_NAME: 'Ana Example',
  GIT_COMMITTER_EMAIL: 'ana@example.org',
};

/** `runBlocks` of all blocks of a page. */
export function runPage(page: string): Promise<readonly string[]> {
  return runBlocks(blocksOf(page));
}

/**
 * Pastes blocks into one shell, in an empty directory, with an empty home. Returns how the outcome differs from the
 * page: the output of a block that fails or that is not as shown. A block fails like a script with `set -e`.
 */
export async function runBlocks(blocks: readonly Block[]): Promise<readonly string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-tutorial-')));
  try {
    const [bin, home, work] = ['bin', 'home', 'work'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    for (const place of [bin, home, work]) mkdirSync(place);
    symlinkSync(writProgram, join(bin, 'writ'));
    const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
    const script = blocks.map(({ commands }) => `${commands}\nprintf '\\n${endOfBlock}\\n'`);
    const child = spawn('bash', ['-e', '-c', ['exec 2>&1', ...script].join('\n')], {
      cwd: work,
      env: { ...person, HOME: home, TMPDIR: root, PATH: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const outputs = (await text(child.stdout)).split(`\n${endOfBlock}\n`);
    return blocks.flatMap(({ commands, shown }, at) => {
      const output = outputs[at];
      if (output === undefined) return [];
      const fault =
        at + 1 === outputs.length
          ? 'it failed'
          : shown === undefined
            ? undefined
            : firstDifference(shown, output);
      return fault === undefined ? [] : [`${commands}${fault}\noutput:\n${output}`];
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const endOfBlock = '--- end of block ---';
