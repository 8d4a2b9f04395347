/** Commands from files: text with arguments that a person sends as `/name`. They give no rights. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../core/base/canonical.ts';
import { readPlainFile } from '../core/base/files.ts';
import { readBlob } from '../workspace/git/read-objects.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { resolveBase } from '../workspace/git/resolve-commit.ts';
import { listTree } from '../workspace/git/tree.ts';

/** A command of a file: `.writ/commands/NAME.md`, or the `SKILL.md` of a directory NAME. */
export interface FileCommand {
  readonly name: string;
  readonly description: string;
  /** As committed, or of the user's folder. */
  readonly path: string;
  readonly body: string;
}

const maxCommandBytes = 64 * 1024;
const maxCommands = 200;
const commandName = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Entries of one folder of the user that are looked at. */
const maxEntries = 256;
/** Folders in a repository, at HEAD, and which of their files are commands. */
const committedPlaces: readonly (readonly [folder: string, file: RegExp])[] = [
  ['.agents/skills', /^([^/]+)\/SKILL\.md$/],
  ['.claude/skills', /^([^/]+)\/SKILL\.md$/],
  ['.writ/commands', /^([^/]+)\.md$/],
];

/** The commands of the repository at HEAD, then those of the user; the first of a name counts. */
export async function findFileCommands(
  repository: Repository,
  userDirectory: string | undefined,
): Promise<ReadonlyMap<string, FileCommand>> {
  const found = new Map<string, FileCommand>();
  const add = (name: string | undefined, path: string, bytes: Uint8Array | undefined): void => {
    if (name === undefined || bytes === undefined || !commandName.test(name)) return;
    if (found.has(name) || found.size >= maxCommands) return;
    const command = parseCommand(Buffer.from(bytes).toString('utf8'));
    if (command.body !== '') found.set(name, { name, path, ...command });
  };
  const base = await resolveBase(repository, 'HEAD').catch(() => undefined);
  if (base !== undefined)
    for (const [folder, file] of committedPlaces)
      for (const { path, sizeBytes } of await listTree(repository, base.tree, folder)) {
        const name = file.exec(path.slice(folder.length + 1))?.[1];
        if (name === undefined || sizeBytes > maxCommandBytes) continue;
        add(name, path, await readBlob(repository, base.tree, path, maxCommandBytes));
      }
  if (userDirectory === undefined) return found;
  for (const [folder, file] of [
    ['commands', (name: string) => [name]],
    ['skills', (name: string) => [name, 'SKILL.md']],
  ] as const)
    for (const entry of entriesOf(join(userDirectory, folder))) {
      const parts = [folder, ...file(entry)];
      const name = folder === 'commands' ? /^(.+)\.md$/.exec(entry)?.[1] : entry;
      if (name === undefined || !commandName.test(name)) continue;
      try {
        add(
          name,
          join(userDirectory, ...parts),
          readPlainFile({ root: userDirectory, parts }, maxCommandBytes),
        );
      } catch {
        // A link, or a file that is too large, is no command.
      }
    }
  return found;
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).slice(0, maxEntries);
  } catch {
    return [];
  }
}

/** Front matter gives the description; without one it is the first line. */
function parseCommand(text: string): Pick<FileCommand, 'description' | 'body'> {
  const [, front = '', rest = text] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [];
  const body = rest.trim();
  const described = /^description:\s*(.+)$/m.exec(front)?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
  const first = body.split('\n').find((line) => line.trim() !== '') ?? '';
  return { description: (described ?? first.replace(/^#+\s*/, '')).slice(0, 200), body };
}

/**
 * The words of `/name ARGUMENTS` for a model: `$ARGUMENTS` and `$1` to `$9` are filled in, and other arguments are
 * added at the end. `undefined` if the text is none of these commands.
 */
export function expandCommand(text: string, commands: ReadonlyMap<string, FileCommand>): string | undefined {
  const [, name = '', given = ''] = /^\s*\/([a-z0-9-]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const command = commands.get(name);
  if (command === undefined) return undefined;
  const all = given.trim();
  const words = all === '' ? [] : all.split(/\s+/);
  const isPlaced = /\$(?:ARGUMENTS|[1-9])/.test(command.body);
  const filled = command.body.replaceAll(/\$(ARGUMENTS|[1-9])/g, (_, which: string) =>
    which === 'ARGUMENTS' ? all : (words[Number(which) - 1] ?? ''),
  );
  const more = isPlaced || all === '' ? '' : `\n\n${all}`;
  return `Command /${name} (${command.path}, sha256 ${sha256Hex(command.body).slice(0, 12)}):\n\n${filled}${more}`;
}
