import type { LogSource } from '../../core/contract/transparency-log.ts';

/** Log mode `none`: there is no log and never a proof. */
export const noLogSource: LogSource = { open: async () => undefined };
