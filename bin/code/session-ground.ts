import { codexWorker } from '../../coder/plugin.ts';
import type { SessionSetting } from '../../session/open-session.ts';
import type { SessionOptions } from '../../session/options/session-options.ts';
import { allCapabilities } from '../../session/state/all-capabilities.ts';
import type { FoundModel } from './find-model.ts';

/** What clients are told of a session, and who may steer it (document 2, Session snapshot, Authentication). */
export function sessionGround(
  options: SessionOptions,
  { model, isPriced }: Pick<FoundModel, 'model' | 'isPriced'>,
): SessionSetting['ground'] {
  const { mode, workingDir, browserControl, control, planMode, limitUsd, priced, goalBudget } = options;
  const { context, networkAccess, named, onlyReads } = options;
  const { provider, apiBase } = options.model;
  const isKnown = model !== undefined && priced.includes(model) ? true : isPriced;
  return {
    workingDir,
    provider: {
      provider,
      ...(model === undefined ? {} : { model }),
      ...(planMode ? { mode: 'plan' } : {}),
      // A program that works by itself, within what the engine lets it.
      managed: provider === codexWorker,
    },
    ...(apiBase === undefined ? {} : { apiBase }),
    // Codex asks nobody anything: what it would ask a person is answered with nothing (decision 0015).
    capabilities: { ...allCapabilities, structuredQuestions: provider !== codexWorker },
    context,
    networkAccess,
    named,
    onlyReads,
    local: mode === 'terminal' ? 'tui' : 'none',
    attachable: [
      ...(browserControl === 'loopback' ? (['browser'] as const) : []),
      ...(control.mode === 'write' ? (['automation'] as const) : []),
    ],
    goalBudget,
    ...(limitUsd === undefined ? {} : { limitUsd }),
    ...(isKnown === undefined ? {} : { isPriced: isKnown }),
  };
}
