import type { PluginNeeds } from '../manifest-parts.ts';
import type { PluginAccess } from '../plugin-access.ts';
import type { PluginProcess } from '../process/plugin-process.ts';

/** The user's secrets and files that a plugin receives, by name: those that are declared and exist. */
interface Handed {
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Texts that a plugin's error message must not contain: the secrets, and the lines of the files. */
  readonly masked: readonly string[];
}

/**
 * Reads the secrets and files that the manifest declares from the user's environment. Throws KEY_INSECURE for a file
 * that other users could change.
 */
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

/** A shorter line also occurs in text that is unrelated to the file. */
const leastOfLine = 8;

/** Returns the lines of a file to mask; the whole text if no line is long enough. */
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
  /** `options` of its `[[plugins]]` entry. */
  readonly options: Readonly<Record<string, unknown>>;
  handed(): Promise<Handed>;
}
