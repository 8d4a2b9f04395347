/**
 * A process that makes one call which leaves the machine, over a real journal, and is killed at the place that it is
 * told. Arguments: journal, file that the effect goes to, place or `nowhere`, file for what came of it.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { openToolEntry } from '../../../../agent/tool-calls/tool-entry.ts';
import { systemClock } from '../../../../core/base/clock.ts';
import { openCallLedger, workedStep } from '../../../../engine/state/calls.ts';
import { stepsOver } from '../../../../engine/state/record-collector.ts';
import { resumedType } from '../../../../engine/state/spent.ts';
import { Journal } from '../../../../store/journal.ts';

const [journalPath = '', effects = '', place = 'nowhere', answerFile = ''] = process.argv.slice(2);
const attempt = 'task-1/revision-1/attempt-1';
const die = (here: string): void => {
  if (here === place) process.kill(process.pid, 'SIGKILL');
};
const journal = await Journal.open(journalPath, { clock: systemClock });
if (journal.records.length > 0) await journal.append(resumedType, {});
const log = {
  records: journal.records,
  async append(type: string, data: unknown) {
    die(`before ${type}`);
    const record = await journal.append(type, data);
    die(`after ${type}`);
    return record;
  },
};
const calls = openCallLedger(log).of(attempt);
const quiet = { call: async () => undefined };
const door = openToolEntry(
  {
    engine: {
      clock: systemClock,
      hooks: { tool: { guard: quiet, started: quiet, settled: quiet } },
    } as never,
    nowMs: () => systemClock.now(),
    mask: (text) => text,
    signal: new AbortController().signal,
    calls,
  },
  { most: 10, told: 'no more' },
);
const request = { runId: 'r', tool: 'workspace.command', action: 'execute', command: 'publish' };
const answer = await stepsOver(log)
  .under(attempt)
  .once(workedStep, async () => {
    calls.spend({ turns: 1, tokensUsed: 10, costUnits: 1 });
    const came = await door.use(
      () => ({ request, given: { command: 'publish' } }),
      async (_judged, leaving) => {
        die('in the call');
        await leaving();
        die('about to leave');
        appendFileSync(effects, 'published\n');
        die('outside');
        return { outcome: 'done', exitCode: 0, text: 'published' };
      },
    );
    die('answered');
    return { ...came, lost: calls.lost(), lostSpent: calls.lostSpent };
  });
await journal.close();
writeFileSync(answerFile, JSON.stringify(answer));
