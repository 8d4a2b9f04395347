import t from 'tap';
import { textOf } from '../../../agent/workspace-tools/workspace-tools.ts';

type Result = Parameters<typeof textOf>[0];

t.test('the text of a command result names what was cut and the limit that ended it', (t) => {
  const said = (truncated: boolean, exceeded?: Result['exceeded']) =>
    textOf({
      combined: { bytes: Buffer.from('a'), truncated, totalBytes: 9 },
      ...(exceeded === undefined ? {} : { exceeded }),
    } as Result);
  t.equal(said(false), 'a');
  t.equal(said(true), 'a\n[cut: 9 bytes in all]');
  t.match(said(false, { what: 'memory', limit: 5, found: 6 }), /^a\n\[ended: memory beyond 5\]$/);
  t.end();
});
