import { join } from 'node:path';
import type { Environment } from '../keys/user-config-dir.ts';
import { userConfigDir } from '../keys/user-config-dir.ts';
import { type KeptCheckpoints, openCheckpointMemory } from './checkpoint-memory.ts';

/** What this user has seen of any log. */
export function userCheckpointMemory(env: Environment): KeptCheckpoints {
  return openCheckpointMemory(join(userConfigDir(env), 'trust', 'checkpoints'));
}
