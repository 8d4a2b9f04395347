import { existsSync } from 'node:fs';
import { codexPlace } from '../../../scripts/codex-place.ts';

/** The real program, and why tests with it are skipped where it is not there. */
export const codexBin = codexPlace()?.program ?? '';
export const codexSkip = existsSync(codexBin)
  ? false
  : 'the codex program is not in the cache: `node scripts/setup-tests.ts`';
