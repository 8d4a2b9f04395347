import type { PluginNeeds } from '../manifest-parts.ts';
import type { PluginAccess } from '../plugin-access.ts';
import type { PluginProcess } from '../process/plugin-process.ts';

/** What a plugin is handed of the user's own, by name: what was declared and is there. */
interface Handed {
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** What no fault of the plugin tells: the secrets, and the lines of the files. */
  readonly masked: readonly string[];
}

/** Asks the user's surroundings for what the manifest declares. KEY_INSECURE for a file that others could change. */
export async function handedTo(
  { secrets, files }: Pick<PluginNeeds, 'secrets' | 'files'>,
  access: Pick<PluginAccess, 'secret' | 'file'>,
): Promise<Handed> {
  const found = async (names: readonly string[], ask: PluginAccess['file']) => {
    const pairs: [string, string][] = [];
    for (const name of names) {
      const value = await ask?.(name);
      if (value !== undefined && value !== '') pairs.push([name, value]);
    }
    return Object.fromEntries(pairs);
  };
  const given = {
    secrets: await found(secrets, async (name) => (await access.secret?.(name))?.value),
    files: await found(files, access.file),
  };
  const lines = Object.values(given.files).flatMap(linesToMask);
  return { ...given, masked: [...new Set([...Object.values(given.secrets), ...lines])] };
}

/** A shorter line stands in text that has nothing to do with the file. */
const leastOfLine = 8;

/** The lines of a file that are told nowhere; all of it where it has no such line. */
function linesToMask(text: string): readonly string[] {
  const long = text
    .split(/[\r\n]+/)
    .flatMap((line) => (line.trim().length < leastOfLine ? [] : [line.trim()]));
  return long.length > 0 || text.trim() === '' ? long : [text.trim()];
}

/** A plugin's process, and what it may have. */
export interface PartGround {
  readonly plugin: string;
  readonly process: PluginProcess;
  readonly hosts: readonly string[];
  /** What `options` of its `[[plugins]]` entry says. */
  readonly options: Readonly<Record<string, unknown>>;
  handed(): Promise<Handed>;
}
