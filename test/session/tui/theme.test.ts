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
