import { type Line, span } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** What is worth to know before the first word. */
export function greetingLines(
  { workingDir, provider, threadId }: Pick<Snapshot, 'workingDir' | 'provider' | 'threadId'>,
  baseUrl: string,
): readonly Line[] {
  const model = provider.model ?? provider.provider;
  return [
    [span('writ code', 'heading'), span(`  ${visible(workingDir)} · ${visible(model)}`)],
    [span(`thread ${visible(threadId)} · also on ${visible(baseUrl)}`, 'dim')],
  ];
}
