import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { absent } from '../../core/base/durable-file.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseConfig } from '../../engine/config/config.ts';
import type { ListedPlugin } from '../../engine/config/plugins-section.ts';
import { readPlainFile } from '../../engine/plugin-trust/read-directory.ts';

const maxConfigBytes = 256 * 1024;

/** What the configuration of a working tree holds. */
export interface PinnedHere {
  readonly path: string;
  /** `undefined` where there is no file. */
  readonly bytes: Buffer | undefined;
  readonly plugins: readonly ListedPlugin[];
}

/** `.writ/config.toml` as it lies in a working tree, which no run reads. CONFIG_INVALID. */
export async function pinnedHere(root: string): Promise<PinnedHere> {
  const path = join(root, '.writ', 'config.toml');
  const bytes = (await lstat(path).catch(absent)) && (await readPlainFile(path, maxConfigBytes));
  if (bytes === undefined && (await lstat(path).catch(absent)))
    throw new WritError('CONFIG_INVALID', {
      message: `\`${path}\` is no plain file of at most ${maxConfigBytes} bytes`,
    });
  return { path, bytes, plugins: parseConfig(bytes, sealingForms).plugins };
}
