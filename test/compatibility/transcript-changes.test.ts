import t from 'tap';
import { type Change, readChanges, toCompare } from './transcripts/changes.ts';
import { type Block, type Golden, parseGolden, renderGolden } from './transcripts/golden.ts';
import { Normaliser, renumber } from './transcripts/normaliser.ts';

const one = { group: 'runs', name: 'a run' };
const block: Block = { line: 'writ runs', exit: '0', out: 'no runs yet\n', err: '', files: {} };
const json = (data: unknown): Block => ({
  ...block,
  line: 'writ --json runs',
  out: `${JSON.stringify({ ok: true, data }, undefined, 2)}\n`,
});

/** Whether the golden and what is printed now are equal under these changes, and how many of these were used. */
function compared(then: Block, now: Block, changes: readonly object[], changed: Golden = new Map()) {
  const list = readChanges(JSON.stringify({ transcripts: changes }));
  const goldens = { golden: new Map([[one.name, [then]]]), changed, actual: [now] };
  const { expected, actual } = toCompare(one, goldens, list);
  return { equal: expected === actual, used: list.used.size };
}

t.test('a difference without an entry is reported', async (t) => {
  t.match(compared(block, block, []), { equal: true });
  t.match(compared(block, { ...block, out: 'no runs\n' }, []), { equal: false });
  t.match(compared(block, { ...block, err: 'writ: x\n' }, []), { equal: false });
  t.match(compared(block, { ...block, exit: '1' }, []), { equal: false });
  t.match(compared(block, { ...block, files: { 'in/x': 'a' } }, []), { equal: false });
});

t.test('a text entry applies to human output, JSON and files', async (t) => {
  const change: Change = {
    kind: 'text',
    old: 'no "runs" yet',
    new: 'this repository has no "runs"',
    reason: 'r',
  };
  for (const write of [
    (text: string) => ({ ...block, out: `${text}\n` }),
    (text: string) => ({ ...block, err: `${text}\n` }),
    (text: string) => json({ text }),
    (text: string) => ({ ...block, files: { 'in/x': text } }),
  ])
    t.strictSame(compared(write(change.old), write(change.new), [change]), { equal: true, used: 1 });
  t.strictSame(
    compared(block, block, [change]),
    { equal: true, used: 0 },
    'an entry without effect is unused',
  );
});

t.test('an `added` entry leaves out text that the program prints now', async (t) => {
  const added = { kind: 'added', new: '^ {4}\\| .*\\n', reason: 'r' };
  const now = { ...block, out: `    | v24\n${block.out}` };
  t.strictSame(compared(block, now, [added]), { equal: true, used: 1 });
  const told = { ...block, err: `    | a line on stderr\n${block.err}` };
  t.strictSame(compared(block, told, [added]), { equal: true, used: 1 });
  t.match(compared(now, block, [added]), { equal: false, used: 0 }, 'nothing is missing for it');
});

t.test('a field entry renames, removes or adds a field', async (t) => {
  const then = json({ runs: [{ run_id: 'a', n: 1 }] });
  const now = json({ runs: [{ runId: 'a', n: 1 }] });
  const rename = { kind: 'field', old: 'data.runs[].run_id', new: 'data.runs[].runId', reason: 'r' };
  t.strictSame(compared(then, now, [rename]), { equal: true, used: 1 });
  t.match(compared(then, now, [{ ...rename, command: 'show' }]), { equal: false, used: 0 });
  const gone = json({ runs: [{ n: 1 }] });
  t.strictSame(compared(then, gone, [{ ...rename, new: null }]), { equal: true, used: 1 });
  t.strictSame(compared(gone, then, [{ ...rename, old: null, new: rename.old }]), { equal: true, used: 1 });
});

t.test('an exit or output entry applies only to the case it names', async (t) => {
  const now = { ...block, exit: '3' };
  const exit = { kind: 'exit', old: '0', new: '3', reason: 'r', case: one.name };
  t.strictSame(compared(block, now, [exit]), { equal: true, used: 1 });
  t.match(compared(block, now, [{ ...exit, case: 'another' }]), { equal: false });
  const output = { kind: 'output', reason: 'r', group: one.group, case: one.name };
  t.strictSame(compared(block, now, [output], new Map([[one.name, [now]]])), { equal: true, used: 1 });
  t.match(compared(block, block, [output], new Map([[one.name, [now]]])), { equal: false });
});

t.test('an entry without a reason or with an unknown kind is an error', async (t) => {
  const read = (entry: object) => () => readChanges(JSON.stringify({ transcripts: [entry] }));
  t.throws(read({ kind: 'text', old: 'a', new: 'b' }), /no reason/);
  t.throws(read({ kind: 'text', old: 'a', new: 'b', reason: ' ' }), /no reason/);
  t.throws(read({ kind: 'words', reason: 'r' }), /no known kind/);
  t.throws(read({ kind: 'output', reason: 'r' }), /names `group` and `case`/);
});

t.test('a golden is unchanged after it is written and read', async (t) => {
  const golden: Golden = new Map([
    ['one', [block, { ...json({ a: 1 }), err: '\nlast' }]],
    ['two', [{ ...block, out: '', files: { 'in/a': '# x\n\n$ y', 'in/b': undefined, 'in/c': '' } }]],
  ]);
  t.strictSame(parseGolden(renderGolden(golden)), golden);
});

t.test('equal values get the same placeholder number in all texts of a case', async (t) => {
  const [a, b] = ['0f'.repeat(32), 'f0'.repeat(32)];
  const to = new Normaliser({ '/x/place': '<place>' });
  t.equal(to.text(`${a} ${b} ${a}`), '<sha256-1> <sha256-2> <sha256-1>');
  t.equal(to.text(`${b} ${b.slice(0, 8)} at 2025-05-06T07:08:09.123Z`), '<sha256-2> <sha256-2:8> at <time>');
  t.equal(to.text('/x/place/repo and /x/places'), '<place>/repo and <place>s');
  t.equal(new Normaliser({}, ['sha256']).text(a), a);
  t.equal(
    renumber('<sha256-7> <sha1-2> <sha256-3:8> <sha256-7>'),
    '<sha256-1> <sha1-1> <sha256-2:8> <sha256-1>',
  );
});
