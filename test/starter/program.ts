import { join, resolve } from 'node:path';

/**
 * The program that tests start as a process of its own: as it is published where a whole run of the tests has packed it
 * (`WRIT_TEST_PACKAGE`; a third of the time to start), else from the sources.
 */
export const writProgram = join(
  process.env.WRIT_TEST_PACKAGE ?? resolve(import.meta.dirname, '../..'),
  'bin',
  'writ.js',
);

/** What the launcher starts Node with, for whoever starts Node itself: without it a process may not come to its end. */
export const launcherOptions = ['--initial-old-space-size=64'] as const;
