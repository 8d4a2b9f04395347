import { encodeId, requireRefName } from '../workspace/git/ref-name.ts';

/** Names of the refs that writ keeps its objects under. */
export interface StoreRefs {
  readonly runs: string;
  readonly run: (runId: string) => string;
  readonly intent: (specId: string) => string;
  readonly plan: (planId: string) => string;
  /** `<prefix>/approvals/<run>/`: one ref for each signed approval, numbered from 1. */
  readonly approvals: (runId: string) => string;
  /** Artifact content, apart from the permanent chain because it expires. */
  readonly content: (runId: string) => string;
  /** `<prefix>/fetched/of-<run>/`: records of the run that came from elsewhere and are kept beside ours. */
  readonly fetched: (runId: string) => string;
}

/**
 * The refs under `objmodel.objectStore.aiRefPrefix` (with or without its final slash); REF_INVALID for a prefix that is
 * no ref.
 */
export function storeRefs(prefix: string): StoreRefs {
  const stem = requireRefName(prefix.replace(/\/$/, ''));
  const under = (kind: string) => (id: string) => `${stem}/${kind}/${encodeId(id)}`;
  return {
    runs: `${stem}/runs/`,
    run: under('runs'),
    intent: under('intents'),
    plan: under('plans'),
    approvals: (runId) => `${under('approvals')(runId)}/`,
    content: under('content'),
    fetched: (runId) => `${stem}/fetched/of-${encodeId(runId)}/`,
  };
}
