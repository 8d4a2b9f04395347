import t from 'tap';
import { textOf } from '../../../../session/screen/line.ts';
import { cellsOf } from '../../../../session/screen/wrap.ts';
import { whole } from '../../../../session/tui/composer/buffer.ts';
import { edited, giveBack, offered, press } from '../../../../session/tui/composer/compose.ts';
import {
  type Composer,
  emptyComposer,
  type Outcome,
  turnEnded,
} from '../../../../session/tui/composer/composer.ts';
import { drawComposer } from '../../../../session/tui/composer/draw-composer.ts';
import type { Key } from '../../../../session/tui/term/painter.ts';
import { seededRandom } from '../../../chance/seeded-random.ts';
import { toldSeed } from '../../../chance/told-seed.ts';
import { isLong, long } from '../../../rooms/long.ts';
import { commands, keyOf } from './person.ts';

const signs = [
  'a',
  'b',
  ' ',
  ' ',
  '.',
  '/',
  '@',
  '!',
  '?',
  '\\',
  '漢',
  '字',
  'é',
  'e\u0301',
  '👩‍👩‍👧',
  '🇩🇪',
  '\u0301',
  '\u200d',
  'ท',
  'ำ',
  'क्',
  'ष',
  '한',
  '\u1112',
  '\t',
  '\u202e',
  '🐀',
  '"',
  'ask ',
  '/plan ',
];
const bare = [
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
  'page-down',
];
const withCtrl = [...'abcdefghjklnoprstuvwxyz_-/'].map((one) => `ctrl+${one}`);
const withAlt = [
  'alt+b',
  'alt+f',
  'alt+d',
  'alt+enter',
  'alt+backspace',
  'alt+_',
  'alt+<',
  'alt+>',
  'shift+tab',
  'shift+enter',
  'ctrl+left',
  'ctrl+right',
  'constructor',
];
const chords = [...bare, ...bare, ...withCtrl, ...withAlt];
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

long('random keys and pastes lose no text, throw no error and draw within the screen', async (t) => {
  const random = seededRandom(toldSeed(t));
  const below = (count: number): number => Math.floor(random() * count);
  const any = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const words = (count: number): string => Array.from({ length: count }, () => any(signs)).join('');
  const anyKey = (): Key => {
    const kind = below(100);
    if (kind < 45) return { type: 'text', text: words(1 + below(3)) };
    if (kind < 93) return keyOf(any(chords));
    if (kind < 97) return { type: 'paste', text: words(below(30)) };
    return { type: 'paste', text: `${words(below(4))}\n`.repeat(below(40)) };
  };
  const keys = isLong ? 100_000 : 12_000;
  const failed: string[] = [];
  let composer: Composer = emptyComposer;
  let submitted = 0;
  for (let count = 0; count < keys && failed.length === 0; count += 1) {
    const context = {
      busy: below(4) === 0,
      columns: any([1, 2, 3, 7, 8, 20, 40, 80, 160]),
      rows: 1 + below(20),
      commands,
    };
    const before = composer;
    const key = anyKey();
    const kind = below(200);
    const outcome: Outcome =
      kind === 0
        ? turnEnded(composer)
        : kind === 1
          ? { composer: edited(composer, words(below(50))), effects: [] }
          : kind === 2
            ? { composer: giveBack(composer, words(3), 'refused\n\x1b[0m'), effects: [] }
            : kind < 20
              ? {
                  composer: offered(composer, composer.asked - below(3), [
                    'src/',
                    'src/a b.ts',
                    'x\x1b.ts',
                    '漢字.md',
                  ]),
                  effects: [],
                }
              : press(composer, key, context);
    composer = outcome.composer;
    const fail = (what: string): void => {
      failed.push(
        `${what} after ${JSON.stringify(key)}, key ${count}: ${JSON.stringify(before.buffer.text)}`,
      );
    };
    const { text, cursor } = composer.buffer;
    if (cursor < 0 || cursor > text.length) fail('the cursor is out of range');
    else if (cursor < text.length && graphemes.segment(text).containing(cursor)?.index !== cursor)
      fail('the cursor splits a sign');
    if (!whole(composer.buffer).isWellFormed()) fail('half a sign is in the text');
    for (const effect of outcome.effects) {
      if (effect.type !== 'submit') continue;
      submitted += 1;
      if (!composer.history.entries.some((entry) => entry.text.includes(effect.text)))
        fail('what was sent is not in the history');
    }
    // A key that is none of the text leaves what was written somewhere: a list and a backslash change it.
    const gone = whole(before.buffer);
    const isSame = before.completion !== undefined || before.search !== undefined || gone.includes('\\');
    if (
      kind >= 20 &&
      gone.trim() !== '' &&
      !isSame &&
      isElsewhere(key) &&
      !whole(composer.buffer).includes(gone)
    ) {
      const { history, queue } = composer;
      const isHeld =
        history.entries.some((entry) => entry.text === gone) ||
        [...history.drafts.values()].some((draft) => whole(draft) === gone) ||
        queue.includes(gone);
      if (!isHeld) fail('what was written is lost');
    }
    if (before.search !== undefined && kind >= 20 && isElsewhere(key) && gone.trim() !== '') {
      const { history, buffer } = composer;
      const isHeld =
        whole(buffer) === gone ||
        history.entries.some((entry) => entry.text === gone) ||
        [...history.drafts.values()].some((draft) => whole(draft) === gone);
      if (!isHeld) fail('what was written before a search is lost');
    }
    const drawn = drawComposer(composer, { columns: context.columns, rows: context.rows });
    if (drawn.lines.length > context.rows || drawn.lines.length === 0)
      fail(`${drawn.lines.length} of ${context.rows} rows`);
    for (const line of drawn.lines) {
      if (cellsOf(textOf(line)) > context.columns) fail(`wider than ${context.columns}: ${textOf(line)}`);
      if (/[\p{Cc}\p{Cs}\u202e]/u.test(textOf(line))) fail('a control character is drawn');
    }
    const at = drawn.cursor;
    if (at.row < 0 || at.row >= drawn.lines.length || at.column < 0 || at.column >= context.columns)
      fail(`the cursor is at ${at.row}, ${at.column}`);
  }
  t.strictSame(failed, []);
  t.ok(submitted > keys / 200, `${submitted} messages were sent`);
});

/** Keys that send, clear, search or look at what was before. */
function isElsewhere(key: Key): boolean {
  if (key.type !== 'key') return false;
  const { name, ctrl, alt, shift } = key;
  const isPlain = !ctrl && !alt && !shift && ['enter', 'up', 'down', 'tab', 'escape'].includes(name);
  return isPlain || (ctrl && ['char:c', 'char:p', 'char:n', 'char:r'].includes(name));
}

t.test('typing, deleting and moving match a naive list of graphemes', async (t) => {
  const random = seededRandom(toldSeed(t));
  const below = (count: number): number => Math.floor(random() * count);
  const plain = ['a', 'b', ' ', '漢', '👩‍👩‍👧', 'é', '🇩🇪x', '\n'];
  for (let round = 0; round < 40; round += 1) {
    let composer: Composer = emptyComposer;
    let [list, at]: [string[], number] = [[], 0];
    const context = { busy: false, columns: 1 + below(60), rows: 5, commands: [] };
    const hit = (key: Key): void => {
      composer = press(composer, key, context).composer;
    };
    for (let count = 0; count < 500; count += 1) {
      const kind = below(10);
      if (kind < 5) {
        const sign = plain[below(plain.length)] ?? '';
        hit({ type: 'paste', text: sign });
        const parts = [...graphemes.segment(sign)].map(({ segment }) => segment);
        list.splice(at, 0, ...parts);
        at += parts.length;
      } else if (kind === 5 && at > 0) {
        hit(keyOf('backspace'));
        list.splice(at - 1, 1);
        at -= 1;
      } else if (kind === 6) {
        if (list.length > 0) hit(keyOf('delete'));
        list.splice(at, 1);
      } else if (kind === 7) {
        hit(keyOf('left'));
        at = Math.max(0, at - 1);
      } else if (kind === 8) {
        hit(keyOf('right'));
        at = Math.min(list.length, at + 1);
      } else if (kind === 9) {
        hit(keyOf('ctrl+a'));
        while (at > 0 && list[at - 1] !== '\n') at -= 1;
      }
    }
    t.equal(composer.buffer.text, list.join(''));
    t.equal(composer.buffer.cursor, list.slice(0, at).join('').length);
  }
});
