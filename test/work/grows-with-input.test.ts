import t from 'tap';
import { long } from '../rooms/long.ts';
import { growsWithInput } from './count-work.ts';

t.setTimeout(1_200_000);

const jobsOf = (module: string): URL => new URL(`./jobs/${module}.ts`, import.meta.url);

t.test('work grows no faster than hostile input: core', (t) => growsWithInput(t, jobsOf('core')));

for (const module of ['readers', 'engine', 'gates', 'direct-eval', 'session', 'others'])
  long(`work grows no faster than hostile input: ${module}`, { timeout: 1_200_000 }, (t) =>
    growsWithInput(t, jobsOf(module)),
  );

t.test('growsWithInput', async (t) => {
  t.test('fails a job whose work is the square of its input', async (t) => {
    const failed: string[] = [];
    await growsWithInput(
      { ...t, ok: (holds: boolean, what: string) => void (holds || failed.push(what)) } as never,
      jobsOf('quadratic'),
    );
    t.match(failed, [/^a search from each place: .* adds [34]\.\d\d times the first$/]);
    t.equal(failed.length, 1);
  });
});
