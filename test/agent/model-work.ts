import { formatModelChoice } from '../../agent/instructions.ts';
import { coderWorker } from '../../agent/plugin.ts';
import type { ModelServer } from '../providers/model-server.ts';

/** A worker whose model is served there. */
export const source = ({ base }: Pick<ModelServer, 'base'>) =>
  ({
    kind: 'worker',
    worker: coderWorker,
    from: formatModelChoice({ provider: 'openai', model: 'scripted', apiBase: base, flags: {} }),
  }) as const;

export const done = ['submit_task_complete', { complete: true, summary: 'exact' }] as const;

/** What a model was told in answer to its calls, in order. */
export function toldTo({ asked }: Pick<ModelServer, 'asked'>): readonly string[] {
  const last = asked.at(-1)?.body as { messages: { role: string; content: string }[] } | undefined;
  return (last?.messages ?? []).flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}
