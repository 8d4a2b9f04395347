import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { writeDurably } from '../../core/base/durable-file.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { pinnedHere } from './pinned-here.ts';

/** One entry of `[[plugins]]`. */
export interface Pin {
  readonly kind: 'path' | 'package';
  readonly place: string;
  readonly digest: string;
}

/**
 * Writes the entry into \`.writ/config.toml\` of the working tree, or gives the one that is there its new digest.
 * Nothing else of the file changes. False where it stands there already. It counts when it is committed: runs read the
 * policy commit.
 */
export async function pinPlugin(root: string, pin: Pin): Promise<boolean> {
  const { path, bytes, plugins } = await pinnedHere(root);
  const text = bytes?.toString('utf8') ?? '';
  const there = plugins.find(({ kind, place }) => kind === pin.kind && place === pin.place);
  if (there?.digest === pin.digest) return false;
  const entry = `[[plugins]]\n${pin.kind} = ${JSON.stringify(pin.place)}\ndigest = "sha256:${pin.digest}"\n`;
  const changed =
    there === undefined
      ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${entry}`
      : replaceDigest(text, there.digest, pin);
  parseConfig(Buffer.from(changed), sealingForms);
  await mkdir(join(root, '.writ'), { recursive: true });
  await writeDurably(path, changed, 0o644);
  return true;
}

/** Two entries of one digest (the same files at two places) cannot be told apart by text: that is left to a person. */
function replaceDigest(text: string, old: string, { place, digest }: Pin): string {
  const parts = text.split(`sha256:${old}`);
  if (parts.length === 2) return parts.join(`sha256:${digest}`);
  throw new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` names the digest of \`${place}\` ${parts.length - 1} times; change it by hand to \`sha256:${digest}\``,
    detail: { expected: `sha256:${digest}` },
  });
}
