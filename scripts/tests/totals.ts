import type { Outcome } from './run-entry.ts';

/** Adds up what rooms say, and words it. */
export interface Totals {
  /** One line for a room; what it notes, and what failed and what was skipped below it. */
  add(outcome: Outcome): string;
  /** The last lines: a summary in TAP's words, and the one that counts. */
  end(): string;
  failed(): boolean;
}

export function countTotals(): Totals {
  const totals = { pass: 0, fail: 0, skip: 0, todo: 0, total: 0 };
  return {
    add({ name, status, output, seconds }) {
      const summary = output.match(/^# \{ total: .*\}$/gm)?.at(-1) ?? '';
      const count = (word: string): number =>
        Number(new RegExp(`\\b${word}: (\\d+)`).exec(summary)?.[1] ?? 0);
      const failed = count('fail');
      totals.total += count('total');
      totals.pass += count('pass');
      totals.skip += count('skip');
      totals.todo += count('todo');
      // A room that died, said nothing or ran nothing has failed, whatever it counted before.
      const broken = failed === 0 && (status !== 0 || summary === '' || count('total') === 0);
      totals.fail += failed + (broken ? 1 : 0);
      const word = failed > 0 || broken ? 'not ok' : 'ok';
      const skipped = output.match(/^.*\bok \d+.*# SKIP.*$/gm) ?? [];
      return [
        `${word} ${name.padEnd(24)} ${summary.slice(2)}  ${seconds.toFixed(1)} s\n`,
        ...(output.match(/^ *# note: .*$/gm) ?? []).map((line) => `    ${line.trim().slice(2)}\n`),
        ...skipped.map((line) => `    ${line.trim()}\n`),
        word === 'ok' ? '' : `${failures(output)}\n`,
      ].join('');
    },
    end() {
      const { total, pass, fail, skip, todo } = totals;
      return [
        `# { total: ${total}, pass: ${pass}${fail > 0 ? `, fail: ${fail}` : ''}${skip > 0 ? `, skip: ${skip}` : ''} }\n`,
        `${pass} passed, ${fail} failed, ${skip + todo} skipped\n`,
      ].join('');
    },
    failed: () => totals.fail > 0,
  };
}

/** Every failing line with what follows it, bounded; the tail where there is none. */
function failures(output: string): string {
  const lines = output.split('\n');
  const found = lines.flatMap((line, index) =>
    /^ *not ok /.test(line) ? lines.slice(index, index + 24) : [],
  );
  return (found.length > 0 ? found : lines.slice(-40)).slice(0, 400).join('\n');
}
