import type { Attesting } from '../../core/contract/attesting.ts';
import { createSlsaAttestor } from './attestor.ts';

/** SLSA provenance, and approvals by SSH key: what reads these is loaded when there is something to read. */
export const attesting: Attesting = {
  attestor: createSlsaAttestor(),
  approvals: {
    read: async (...asked) => (await import('../approval/read-approvals.ts')).sshsigApprovals.read(...asked),
  },
};
