import { parseText } from '../../core/base/parse-fields.ts';
import { listAt } from './at-member.ts';
import type { PluginNeeds } from './manifest-needs.ts';
import { parsePart, partSeconds } from './manifest-part.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A producer of artifacts as the manifest declares it. */
export interface ManifestArtifact {
  /** What `[artifacts.<name>] plugin` names it by. */
  readonly name: string;
  /** Exports `produce`. */
  readonly module: string;
  /** The media type of what it makes, and its file ending without the dot. */
  readonly contentType: string;
  readonly extension: string;
  /** Globs over paths of the candidate: it is handed the content of those. */
  readonly reads: readonly string[];
  readonly timeoutSeconds: number;
  /** Whether its plugin reaches anybody. */
  readonly hasHosts: boolean;
}

const maxReads = 64;
const mediaType =
  /^(?:application|audio|font|image|model|text|video)\/[a-z0-9][a-z0-9.+-]{0,48}(?:; charset=utf-8)?$/;

/** Reads one; throws on nonsense. */
export function parseArtifact(
  item: unknown,
  pluginPackage: PluginPackage,
  { hosts }: PluginNeeds,
): ManifestArtifact {
  const more = ['contentType', 'extension', 'reads', 'timeoutSeconds'];
  const part = parsePart(item, 'an artifact', more, pluginPackage);
  const { name, module, what, fields } = part;
  const contentType = parseText(fields, 'contentType', 64);
  if (!mediaType.test(contentType))
    throw new TypeError(`${what}: expected \`contentType\` to be a media type in lower case`);
  const extension = parseText(fields, 'extension', 16);
  if (!/^[a-z0-9]+$/.test(extension))
    throw new TypeError(`${what}: expected \`extension\` to be a file ending without the dot`);
  return {
    name,
    module,
    contentType,
    extension,
    reads: listAt(fields, 'reads', (reads) => parseText({ reads }, 'reads', 1024), maxReads),
    timeoutSeconds: partSeconds(part),
    hasHosts: hosts.length > 0,
  };
}
