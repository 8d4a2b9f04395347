import { sha256Hex } from '../../../core/base/digest.ts';
import { WritError } from '../../../core/base/errors.ts';
import { nearestName } from '../../../core/base/nearest-name.ts';
import type { DigestedThing } from '../../../core/contract/attestor.ts';
import type { PolicyEngine } from '../../../core/contract/policy-engine.ts';
import type { PolicyText } from '../../../core/contract/rule.ts';
import type { PolicyConfig } from '../../config/config.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readBlobs } from '../../vcs/blobs.ts';
import type { GitDirectory } from '../../vcs/git.ts';

/** `[policy.<name>]` with its files, and the engines that they name. */
export interface OpenPolicies {
  /** Every registered engine's name, whether a policy names it or not. */
  readonly engineNames: readonly string[];
  /** Those that a policy names. */
  readonly engines: ReadonlyMap<string, PolicyEngine>;
  readonly byName: ReadonlyMap<string, PolicyText & { readonly engine: string }>;
  readonly dependencies: readonly DigestedThing[];
}

const maxPolicyBytes = 4 * 1024 * 1024;

/**
 * Reads policy files out of the tree of the policy commit. An engine that nobody registered, or a file that is not
 * there, is CONFIG_INVALID.
 */
export async function openPolicies(
  engine: Pick<WritEngine, 'slots'>,
  repository: GitDirectory,
  baseTree: string,
  configured: ReadonlyMap<string, PolicyConfig>,
): Promise<OpenPolicies> {
  const { policy } = engine.slots;
  const wanted = [...configured.values()].flatMap(({ files }) => files);
  const blobs = await readBlobs(repository, baseTree, wanted, maxPolicyBytes);
  const engines = new Map<string, PolicyEngine>();
  const byName = new Map<string, PolicyText & { readonly engine: string }>();
  const dependencies: DigestedThing[] = [];
  for (const [name, { engine: engineName, files }] of configured) {
    if (!policy.names.includes(engineName)) {
      const meant = nearestName(engineName, policy.names);
      throw invalid(
        `policy.${name}.engine`,
        `no policy engine \`${engineName}\`${meant === undefined ? '' : `, did you mean \`${meant}\`?`}`,
      );
    }
    engines.set(engineName, await policy.pick(engineName));
    const read = files.map((path, index) => {
      const bytes = blobs.get(path);
      if (bytes === undefined)
        throw invalid(`policy.${name}.files[${index}]`, `\`${path}\` is no file of the policy commit`);
      dependencies.push({ name: path, uri: `urn:writ:policy:${name}`, digest: { sha256: sha256Hex(bytes) } });
      return { path, bytes };
    });
    byName.set(name, { name, engine: engineName, files: read });
  }
  return { engineNames: policy.names, engines, byName, dependencies };
}

function invalid(path: string, message: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path}\`: ${message}`,
    detail: { issues: [{ path, message }] },
  });
}
