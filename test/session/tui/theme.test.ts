import t from 'tap';
import { type Line, span, type Tone } from '../../../session/screen/line.ts';
import { reflows } from '../../../session/tui/term/process-ground.ts';
import { pickTheme, type Theme, themes, toRow } from '../../../session/tui/term/row.ts';

t.test('the theme follows `NO_COLOR`, `TERM` and the colour options', (t) => {
  const wanted = { colour: true, plain: false };
  t.equal(pickTheme({ TERM: 'xterm' }, wanted), 'colour');
  t.equal(pickTheme({ TERM: 'xterm', NO_COLOR: '' }, wanted), 'colour');
  t.equal(pickTheme({ TERM: 'xterm', NO_COLOR: '1' }, wanted), 'mono');
  t.equal(pickTheme({ TERM: 'xterm' }, { colour: false, plain: false }), 'mono');
  t.equal(pickTheme({ TERM: 'dumb' }, wanted), 'bare');
  t.equal(pickTheme({ TERM: 'dumb' }, { colour: true, plain: true }), 'plain');
  for (const [tone, look] of Object.entries(themes.mono.look))
    t.notMatch(look, /3\d/, `${tone} has no colour`);
  for (const look of Object.values(themes.colour.look))
    t.notMatch(look, /^(?:.*;)?(?:3[034]|4\d|9\d)/, 'is read anywhere');
  t.end();
});

/** Luminance of a colour of the 256 that every terminal has alike (WCAG 2.2, relative luminance). */
const luminance = (n: number): number => {
  const steps = [0, 95, 135, 175, 215, 255];
  const cube = n - 16;
  const rgb =
    n >= 232
      ? [0, 0, 0].map(() => 8 + 10 * (n - 232))
      : [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((at) => steps[at] ?? 0);
  const [r = 0, g = 0, b = 0] = rgb
    .map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

t.test('a chosen theme has a contrast of at least 4.5, and `NO_COLOR` wins over its colours', (t) => {
  const theme = (name: 'light' | 'dark' | 'high-contrast', env = {}) =>
    pickTheme({ TERM: 'xterm', ...env }, { colour: true, plain: false, theme: name });
  t.strictSame([theme('light'), theme('dark'), theme('high-contrast')], ['light', 'dark', 'high-contrast']);
  t.equal(theme('dark', { NO_COLOR: '1' }), 'mono');
  t.equal(theme('high-contrast', { NO_COLOR: '1' }), 'high-contrast');
  t.equal(theme('light', { TERM: 'dumb' }), 'bare');
  for (const [name, ground] of [
    // White and #f5f5dc; black and #2e3440.
    ['light', [1, 0.9]],
    ['dark', [0, 0.034]],
  ] as const)
    for (const [tone, look] of Object.entries(themes[name].look)) {
      const ink = /38;5;(\d+)/.exec(look)?.[1];
      if (ink === undefined) continue;
      for (const one of ground) {
        const [low = 0, high = 0] = [one, luminance(Number(ink))].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        t.ok(ratio >= 4.5, `${name}, ${tone}: ${ratio.toFixed(1)}`);
      }
    }
  for (const [tone, look] of Object.entries(themes['high-contrast'].look))
    t.notMatch(look, /^2$|;2$|[34]\d/, `${tone} is as strong as text`);
  t.end();
});

const encodeLine = (line: Line, theme: Theme): string =>
  toRow(line, theme)
    .map(({ text }) => text)
    .join('');

t.test('the plain theme writes a tone as one word unless the text has it already', (t) => {
  const plain = (text: string, tone: Tone): string => encodeLine([span(text, tone)], themes.plain);
  t.equal(plain('text', 'added'), '+text');
  t.equal(plain('+text', 'added'), '+text');
  t.equal(plain('not signed', 'warn'), 'warning: not signed');
  t.equal(plain('Warning: not signed', 'warn'), 'Warning: not signed');
  t.equal(encodeLine([span('a', 'bad'), span(' b'), span('c', 'bad')], themes.plain), 'error: a bc');
  t.end();
});

t.test('no span writes control or invisible characters', (t) => {
  const hostile = 'a\x1b[2Jb\r\nc\x07d\x9b31me\u202ef\u2066g\u2028h\ti\u200bj\ud800k\x7f';
  for (const theme of Object.values(themes)) {
    t.equal(encodeLine([span(hostile)], theme), 'a[2Jbcd31mefgh ij\ufffdk');
  }
  t.end();
});

t.test('`reflows` knows which terminals wrap rows again on a resize', (t) => {
  t.ok(reflows({ TERM: 'xterm-256color' }));
  t.ok(reflows({ TERM: 'screen-256color', TMUX: '/tmp/tmux' }));
  t.notOk(reflows({ TERM: 'screen' }));
  t.notOk(reflows({ TERM: 'linux' }));
  t.notOk(reflows({ TERM: 'xterm', XTERM_VERSION: 'XTerm(390)' }));
  t.end();
});
