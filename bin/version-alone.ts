import { readVersion } from '../api/build.ts';
import { exit } from './exit.ts';
import { openOutput } from './terminal/open-output.ts';

/** Bundles `writ --version` in one file, which the launcher starts: the command table is not needed. */
export async function main(): Promise<void> {
  const out = openOutput(1, () => process.stdout);
  out.write(`${readVersion()}\n`);
  await exit(
    0,
    out,
    openOutput(2, () => process.stderr),
  );
}
