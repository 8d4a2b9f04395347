import type { SessionContext } from './session-settings.ts';

/** Every way to write a context (document 2, Options: `--context`). */
export const sessionContexts: Readonly<Record<string, SessionContext>> = {
  dev: 'dev',
  development: 'dev',
  review: 'review',
  'code-review': 'review',
  research: 'research',
  explore: 'research',
};
