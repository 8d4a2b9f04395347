import t from 'tap';
import type { Clock } from '../../../core/base/clock.ts';
import { type Line, textOf } from '../../../session/screen/line.ts';
import { widthOf } from '../../../session/screen/wrap.ts';
import type { Report } from '../../../session/state/command.ts';
import { slashCommands } from '../../../session/state/slash-words.ts';
import { openScreen } from '../../../session/tui/open-screen.ts';
import { type Key, type KeyName, keyOf, type Painter } from '../../../session/tui/term/painter.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { casesOf } from '../../rooms/long.ts';
import { openMachineDoor } from './machine-door.ts';

const names: readonly KeyName[] = [
  'enter',
  'enter',
  'enter',
  'escape',
  'tab',
  'backspace',
  'delete',
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'page-up',
  'char:c',
  'char:d',
  'char:r',
  'char:z',
  'char:g',
  'char:k',
  'char:y',
  'char:l',
  'char:x',
];
const texts = [
  'y',
  'n',
  '1',
  '3',
  'm',
  'e',
  'l',
  'hello',
  'ü',
  '表',
  '👩‍👩‍👧',
  '/',
  '/plan',
  '/approvals',
  '!ls',
  '@src',
  '?',
  ' ',
  'A',
  'w',
  '\u0301',
];

/** All 10,000 in the longer loop. */
const rounds = process.env.WRIT_FUZZ_ROUNDS === undefined ? 2000 : Number(process.env.WRIT_FUZZ_ROUNDS);

for (const [, isPlain] of casesOf({ drawn: false, 'in plain lines': true }, ['drawn']))
  t.test(
    `random keys and reports lose no entry and fit the screen${isPlain ? ', in plain lines' : ''}`,
    async (t) => {
      const random = seededRandom(toldSeed(t));
      const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
      let nowMs = 0;
      const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, sleep: () => new Promise(() => {}) };
      const machine = openMachineDoor(() => nowMs);
      let size = { columns: 80, rows: 24 };
      let count = 0;
      const nextCount = (): number => {
        count += 1;
        return count;
      };
      const pass = (ms: number): void => {
        nowMs += ms;
      };
      let reply = 0;
      const pieces = new Map<string, string>();
      const piece = (id: string, text: string): string => {
        pieces.set(id, `${pieces.get(id) ?? ''}${text}`);
        return text;
      };
      const printed: string[] = [];
      const wrong: string[] = [];
      const painter: Painter = {
        commit: (lines) => void printed.push(...lines.map(textOf)),
        live(lines, cursor) {
          if (lines.length > Math.max(2, size.rows - 1)) wrong.push(`${lines.length} lines of ${size.rows}`);
          for (const line of lines)
            if (widthOf(line) > size.columns)
              wrong.push(`${widthOf(line)} columns of ${size.columns}: ${textOf(line)}`);
          if (cursor !== undefined && (cursor.row >= lines.length || cursor.column >= size.columns))
            wrong.push(`cursor at ${cursor.row},${cursor.column} of ${lines.length} lines`);
          if (
            [...printed.slice(-20), ...lines.map((line: Line) => textOf(line))].some((text) =>
              /\p{Cc}/u.test(text),
            )
          )
            wrong.push('a control character');
        },
        resized() {},
        pause() {},
        resume() {},
        close() {},
      };
      let ends = 0;
      const open = () => {
        const screen = openScreen({
          door: machine.door,
          painter,
          size,
          isPlain,
          clock,
          commands: slashCommands,
          greeting: [],
          paths: async () => ['src/a.ts'],
          edit: async (text) => `${text}!`,
          write: async (path) => path,
          suspend() {},
        });
        void screen.ended.then(() => {
          ends += 1;
        });
        return screen;
      };
      const screen = open();
      const marks: string[] = [];
      const mark = (): string => {
        const text = `m${nextCount()}.`;
        marks.push(text);
        return text;
      };
      const reports: readonly ((turn: string) => Report)[] = [
        (turn) => ({ turn, type: 'noted', id: `n${nextCount()}`, text: mark() }),
        (turn) => ({
          turn,
          type: 'replying',
          id: `${turn}r${reply}`,
          text: piece(`${turn}r${reply}`, 'piece of a reply\n'),
        }),
        (turn) => ({
          turn,
          type: 'replying',
          id: `${turn}s${reply}`,
          text: piece(`${turn}s${reply}`, 'another '),
        }),
        (turn) => {
          const last = reply;
          reply += 1;
          machine.report(() => ({
            turn,
            type: 'replied',
            id: `${turn}s${last}`,
            text: `${pieces.get(`${turn}s${last}`) ?? ''}${mark()}`,
          }));
          return {
            turn,
            type: 'replied',
            id: `${turn}r${last}`,
            text: `${pieces.get(`${turn}r${last}`) ?? ''}${mark()}`,
          };
        },
        (turn) => ({
          turn,
          type: 'tool',
          id: `t${turn}`,
          toolName: 'run',
          status: 'running',
          summary: 'ls \u001b[31m\u202e',
        }),
        (turn) => ({ turn, type: 'tool', id: `t${turn}`, toolName: 'run', status: 'completed' }),
        (turn) => ({
          turn,
          type: 'ask',
          subject: `a${nextCount()}`,
          kind: 'approval',
          title: 'Run',
          metadata: { command: 'x\u0007y' },
        }),
        (turn) => ({
          turn,
          type: 'ask',
          subject: `p${nextCount()}`,
          kind: 'post_plan_choice',
          metadata: { lines: ['a.1', 'a.2'] },
        }),
        (turn) => ({
          turn,
          type: 'ask',
          subject: `i${nextCount()}`,
          kind: 'intent_review_choice',
          metadata: {},
        }),
        (turn) => ({
          turn,
          type: 'ask',
          subject: `u${nextCount()}`,
          kind: 'request_user_input',
          metadata: { questions: [{ id: 'k', prompt: 'Key?', kind: 'text', secret: true }] },
        }),
        (turn) =>
          random() < 0.2
            ? { turn, type: 'end', end: 'done' }
            : { turn, type: 'noted', id: `n${nextCount()}`, text: mark() },
      ];
      const events: readonly (() => void)[] = [
        ...Array.from({ length: 8 }, () => () => screen.press([pickKey()])),
        ...Array.from({ length: 3 }, () => () => attempt(() => machine.report(pick(reports)))),
        () => (random() < 0.2 ? attempt(() => machine.takeOver('tab')) : undefined),
        () => attempt(() => machine.giveBack('tab')),
        () => screen.press([keyOf('char:u', { ctrl: true }), { type: 'text', text: 'say' }, keyOf('enter')]),
        () => {
          size = { columns: 10 + Math.floor(random() * 150), rows: 4 + Math.floor(random() * 60) };
          screen.resized(size);
        },
        () => pass(Math.floor(random() * 800)),
        () => screen.press([keyOf('tab'), { type: 'text', text: pick(['y', '1', 'e', 'c']) }]),
      ];
      const attempt = (act: () => void): void => {
        try {
          act();
        } catch {
          // The machine refuses much of what chance wants.
        }
      };
      const pickKey = (): Key => {
        const chance = random();
        if (machine.state.status === 'awaiting_interaction' && chance < 0.4)
          return { type: 'text', text: pick(['y', '1', '2', 'n', 'e', 'c', 'm', 'l']) };
        if (chance < 0.45) return { type: 'text', text: pick(texts) };
        if (chance < 0.5) return { type: 'paste', text: pick(['y', 'a\nb', 'x'.repeat(3000)]) };
        const name = pick(names);
        return keyOf(name, {
          ctrl: name.startsWith('char:') || random() < 0.1,
          alt: random() < 0.1,
          shift: random() < 0.1,
        });
      };
      for (let round = 0; round < rounds; round += 1) {
        nowMs += 40;
        pick(events)();
        if (round % 20 === 0) await Promise.resolve();
      }
      for (const id of pieces.keys())
        machine.report((turn) => ({ turn, type: 'replied', id, text: pieces.get(id) ?? '' }));
      machine.report((turn) => ({ turn, type: 'end', end: 'done' }));
      screen.press([keyOf('left')]);
      t.strictSame([...new Set(wrong)].slice(0, 5), []);
      const all = printed.join('\n');
      const lost = marks.filter(
        (one) =>
          machine.state.transcript.some(({ content = '' }) => content.includes(one)) && !all.includes(one),
      );
      t.strictSame(lost, [], 'every note and reply stands in the scrollback');
      const twice = marks.filter((one) => printed.filter((line) => line.includes(one)).length > 1);
      t.strictSame(twice, [], 'and none twice');
      t.ok(
        machine.answers.length > 8,
        `${machine.answers.length} answers, ${marks.length} marks, ${ends} ends`,
      );
      screen.close();
    },
  );
