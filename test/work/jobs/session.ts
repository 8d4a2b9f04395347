import { highlightCode, loadHighlighting } from '../../../session/screen/highlighter.ts';
import { markdownLines, openMarkdown } from '../../../session/screen/markdown-lines.ts';
import { drawComposer } from '../../../session/tui/composer/draw-composer.ts';
import type { Seen } from '../../../session/web/seen.ts';
import { foldChange } from '../../../session/web/wire/follow-session.ts';
import { hostileMarkdown } from '../../session/screen/markdown/hostile-pieces.ts';
import { Person } from '../../session/tui/composer/person.ts';
import type { Job, Jobs } from '../count-work.ts';
import { ofPieces, repeated } from '../of-pieces.ts';

await loadHighlighting();

const hostileCode = [...['`', '"', '(', 'a', '/', '<a ']];
const languages = ['ts', 'js', 'json', 'py', 'go', 'rs', 'java', 'sh', 'yaml', 'html', 'css', 'sql', 'md'];

const typed: Readonly<Record<string, string>> = {
  lines: 'some words of a line of text\n',
  'one line': 'some words of a line of text ',
  'wide signs': '漢字仮名交じり文',
  'joined signs': '👩‍👩‍👧🇩🇪e\u0301 ',
  'one sign of marks': '\u0301',
  'white space': ' ',
};
const chords = [
  ...['x', 'left', 'up', 'alt+b', 'down', 'backspace', 'ctrl+a', 'ctrl+e', 'page-up', 'ctrl+_', 'x'],
];

/** Keys that are pressed in a pasted, opened text of that size. */
function keys(piece: string): Job {
  return {
    prepare: (size) => {
      const person = new Person();
      person.pastes(`a${repeated(piece, size)}`).presses('ctrl+o', 'ctrl+home', 'page-down', 'page-down');
      return () => {
        for (const chord of chords) {
          person.does(chord);
          draw(person);
        }
      };
    },
  };
}

function draw(person: Person): void {
  drawComposer(person.composer, { columns: 80, rows: 20 });
}

export const jobs: Jobs = {
  // The matcher of patterns does not know `\\p{RGI_Emoji}`.
  ...ofPieces('Markdown', hostileMarkdown, (text) => markdownLines(text, { columns: 80 }), {
    size: 2_000,
    patternsByMatch: true,
  }),
  'a block of code that streams': {
    prepare: (lines) => () => {
      const stream = openMarkdown(() => 80);
      stream.push('```ts\n');
      for (let at = 0; at < lines; at += 1) stream.push('const value = "some text"; // why\n');
    },
    size: 100,
  },
  ...Object.fromEntries(
    languages.flatMap((language) =>
      hostileCode.map((piece): [string, Job] => [
        `code of ${language}: ${piece}`,
        {
          // A line that is longer is shown without colours.
          prepare: (size) => {
            const text = `${repeated(piece, 390)}\n`.repeat(size);
            return () => highlightCode(text, language);
          },
          size: 2,
        },
      ]),
    ),
  ),
  ...Object.fromEntries(
    Object.entries(typed).flatMap(([name, piece]): [string, Job][] => [
      [
        `a paste of ${name}`,
        {
          prepare: (size) => {
            const text = `a${repeated(piece, size)}`;
            const person = new Person();
            return () => draw(person.pastes(text));
          },
        },
      ],
      // One sign of many marks is cut at a bound that this size does not reach.
      ...(name === 'one sign of marks' ? [] : [[`keys in ${name}`, keys(piece)] as [string, Job]]),
    ]),
  ),
  'a search through messages': {
    prepare: (count) => {
      const earlier = Array.from({ length: count }, (_, index) => `message ${index % 50} `.repeat(30));
      const person = new Person(earlier).presses('ctrl+r');
      return () => {
        for (const letter of 'message 17 is nowhere') draw(person.types(letter));
      };
    },
    size: 100,
  },
  'a change that is folded in': {
    prepare: (count) => {
      const at = '2026-11-23T09:00:00.000Z';
      const toolCalls = Array.from({ length: count }, (_, n) => ({
        id: `c${n}`,
        status: 'completed',
        updatedAt: at,
      }));
      const seen = { transcript: [], toolCalls } as unknown as Seen;
      const payload = { id: `c${count - 1}`, toolName: 'workspace.fs', status: 'failed', updatedAt: at };
      return () => foldChange(seen, { kind: 'tool_call', at, payload });
    },
  },
};
