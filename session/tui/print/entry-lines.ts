import { type Line, span, type Tone } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import type { Entry } from './printed.ts';
import type { Shape } from './shape.ts';

const blank: Line = [];

/** A finished entry as it stands in the scrollback from then on; an assistant's reply with its Markdown. */
export function entryLines(entry: Entry, shape: Shape, columns: number): readonly Line[] {
  const { kind, content = '', title } = entry;
  switch (kind) {
    case 'user_message':
      return [blank, ...spoken(content)];
    case 'assistant_message':
      return [blank, ...shape.markdown(content, columns)];
    case 'tool_call':
      return [toolLine(entry)];
    case 'plan_summary':
      return [
        blank,
        [span('Plan: ', 'heading'), span(visible(title ?? ''), 'strong')],
        ...planLines(content),
      ];
    case 'diff':
      return [
        blank,
        ...(title === undefined ? [] : [[span(visible(title), 'strong')]]),
        ...shape.diff(content, columns),
      ];
    case 'info_note':
      return noteLines(title, content);
  }
}

function spoken(text: string): readonly Line[] {
  return text
    .split('\n')
    .map((line, at): Line => [span(at === 0 ? '> ' : '  ', 'accent'), span(visible(line), 'strong')]);
}

const toolSigns: Readonly<Record<string, readonly [string, Tone]>> = {
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  unknown: ['?', 'warn'],
};

function toolLine({ title, content = '', status }: Entry): Line {
  const [sign, tone] = toolSigns[status ?? ''] ?? ['·', 'dim'];
  const isTold = status === 'failed' || status === 'unknown';
  return [
    span(`${sign} `, tone),
    span(visible(title ?? 'tool'), 'code'),
    ...(content === '' ? [] : [span(` ${visible(content)}`, 'dim')]),
    ...(isTold ? [span(` ${status}`, tone)] : []),
  ];
}

function planLines(content: string): readonly Line[] {
  return content.split('\n').map((line): Line => [span(`  ${visible(line)}`)]);
}

const noteTones: Readonly<Record<string, Tone>> = {
  'Decision.Commit': 'good',
  'Decision.Abandon': 'bad',
  'Decision.Rollback': 'bad',
  'No sandbox': 'bad',
  Repair: 'warn',
  'Waiting for people': 'warn',
};

function noteLines(title: string | undefined, content: string): readonly Line[] {
  const tone = noteTones[title ?? ''] ?? 'dim';
  const [first = '', ...rest] = content.split('\n').map(visible);
  const head: Line = [span(title === undefined ? '· ' : `${visible(title)}: `, tone), span(first, 'plain')];
  return [head, ...rest.map((line): Line => [span(`  ${line}`)])];
}
