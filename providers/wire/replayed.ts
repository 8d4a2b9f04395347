import type { ReplayState } from '../../core/contract/model.ts';

/** What a message holds for this provider and model; nothing where it was kept for another. */
export function replayed(state: ReplayState | undefined, provider: string, model: string): unknown {
  return state?.provider === provider && state.model === model ? state.value : undefined;
}
