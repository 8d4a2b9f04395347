import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { runInTerminal } from '../../workspace/process/spawn.ts';

const maxBytes = 4 * 1024 * 1024;

/**
 * Opens a text in the user's editor (`VISUAL`, else `EDITOR`, else `vi`) and returns the edited text. The text is in
 * a file of a private directory for that time. If the editor fails, the text is unchanged.
 */
export async function editOutside(
  text: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'writ-edit-'));
  try {
    const path = join(directory, 'message.md');
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const editor =
      [env.VISUAL, env.EDITOR, 'vi'].find((one) => one !== undefined && one.trim() !== '') ?? 'vi';
    // Split on whitespace; no shell interprets the variable.
    const argv = [...editor.trim().split(/\s+/), path];
    const own = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const code = await runInTerminal(argv, { cwd, env: Object.fromEntries(own) }).catch((cause: unknown) => {
      throw notStarted(editor, cause);
    });
    if (code !== 0)
      throw new WritError('SPAWN_FAILED', {
        message: `the editor \`${argv[0]}\` ended with ${code}; the text is as it was`,
        detail: { program: argv[0], exit_code: code },
      });
    return await readText(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function notStarted(editor: string, cause: unknown): unknown {
  if (!isWritError(cause, 'SPAWN_FAILED')) return cause;
  return new WritError('SPAWN_FAILED', {
    message: `the editor \`${editor}\` could not be started; the text is as it was`,
    detail: cause.detail,
    hints: ['`VISUAL` or `EDITOR` names another one'],
    cause,
  });
}

async function readText(path: string): Promise<string> {
  await using file = await open(path, 'r').catch((cause: unknown) => {
    throw new WritError('SPAWN_FAILED', {
      message: 'the editor left no file that can be read; the text is as it was',
      cause,
    });
  });
  const { size } = await file.stat();
  if (size > maxBytes) throw new WritError('INPUT_TOO_LARGE', { detail: { limit: maxBytes, found: size } });
  return file.readFile('utf8');
}
