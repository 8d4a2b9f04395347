import type { LogSource } from '../../core/interfaces/sealing.ts';

/** Log mode `none`: there is no log and never a proof. */
export const noLogSource: LogSource = { open: async () => undefined };
