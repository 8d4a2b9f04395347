import { realpath } from 'node:fs/promises';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { pickSandbox } from '../../workspace/process/pick-sandbox.ts';
import { type SandboxPolicy, sandboxDigest } from '../approvals/approval-key.ts';
import type { ConsentGround } from './ask-consent.ts';
import type { WorkSetting } from './work-setting.ts';

/** What commands of a run have of the network: every public host, or those that rules of its contract name. */
export interface OpenedNetwork extends Pick<SandboxPolicy, 'hosts'> {
  readonly networkAccess: 'allow' | 'deny';
}

/**
 * What approvals of a run's calls are bound to. Each attempt works in a directory of its own; it stands for the
 * repository, which is what a person knows.
 */
export async function consentGround(
  { engine, repositoryPath, sandbox }: WorkSetting,
  { networkAccess, hosts }: OpenedNetwork,
  heldBack: ConsentGround['heldBack'],
): Promise<ConsentGround> {
  const repository = await openRepository(repositoryPath, { onlyReads: true });
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const backend = await pickSandbox(sandbox, engine.slots.sandbox);
  return {
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: backend.name, network: networkAccess, hosts, writes: [cwd] }),
    ...(backend.unconfined ? {} : { backend: backend.name }),
    heldBack,
  };
}

export const noNetwork: OpenedNetwork = { networkAccess: 'deny', hosts: [] };

/** What of the network a contract opens to commands; of one that cannot be read nothing. */
export function openedNetwork(specBytes: Uint8Array): OpenedNetwork {
  const read = readIntentSpec(specBytes);
  if (!read.ok) return noNetwork;
  const { constraints, security } = read.effective;
  return {
    networkAccess: constraints.security.networkPolicy === 'allow' ? 'allow' : 'deny',
    hosts: security.toolAcl.allow.flatMap((rule) => hostsIn(rule.constraints.networkHosts)),
  };
}

function hostsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
