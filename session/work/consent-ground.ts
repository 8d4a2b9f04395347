import { realpath } from 'node:fs/promises';
import { pickSandbox } from '../../engine/tool/pick-sandbox.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { readHead } from '../../engine/vcs/resolve-commit.ts';
import { sandboxDigest } from '../approvals/approval-key.ts';
import type { ConsentGround } from './ask-consent.ts';
import type { WorkSetting } from './work-setting.ts';

/**
 * What approvals of a run's calls are bound to. Each attempt works in a directory of its own; it stands for the
 * repository, which is what a person knows.
 */
export async function consentGround(
  { engine, repositoryPath, sandbox }: WorkSetting,
  networkAccess: 'allow' | 'deny',
  hasFailed: ConsentGround['hasFailed'],
): Promise<ConsentGround> {
  const repository = await openRepository(repositoryPath);
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const backend = await pickSandbox(sandbox, engine.slots.sandbox);
  return {
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: backend.name, network: networkAccess, hosts: [], writes: [cwd] }),
    ...(backend.unconfined ? {} : { backend: backend.name }),
    hasFailed,
  };
}
