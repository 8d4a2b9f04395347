import t from 'tap';
import type { UsedTool } from '../../../agent/tool-calls/tool-entry.ts';
import { openToolEntry } from '../../../agent/tool-calls/tool-entry.ts';

t.test('the time that the user takes to answer does not count as time of the tool', async (t) => {
  let nowMs = 0;
  const used: UsedTool[] = [];
  const told: number[] = [];
  const quiet = { call: async () => undefined };
  const settled = {
    call: async ({ durationMs }: { readonly durationMs: number }) => void told.push(durationMs),
  };
  const passes = (ms: number): undefined => {
    nowMs += ms;
  };
  const door = openToolEntry(
    {
      engine: {
        clock: { monotonic: () => nowMs },
        hooks: { tool: { guard: quiet, started: quiet, settled } },
      } as never,
      nowMs: () => nowMs,
      mask: (text) => text,
      signal: new AbortController().signal,
      keep: (use) => used.push(use),
      consent: async () => passes(60_000),
    },
    { most: 10, told: 'no more' },
  );
  await door.use(
    () => ({ request: { runId: 'r', tool: 'workspace.fs', action: 'write' }, given: {} }),
    async () => {
      passes(7);
      return { outcome: 'done', text: 'written' };
    },
  );
  t.strictSame(told, [7]);
  t.match(used, [{ durationMs: 7, startedAt: /^1970-01-01T00:01:00/ }]);
});
