import type { SessionContext } from '../../session/options/session-options.ts';

/** Every way to write a context (document 2, Options: `--context`). */
export const sessionContexts: Readonly<Record<string, Exclude<SessionContext, 'none'>>> = {
  dev: 'dev',
  development: 'dev',
  review: 'review',
  'code-review': 'review',
  research: 'research',
  explore: 'research',
};
