import './attack/journal/forged-journal.test.ts';
import './attack/journal/forged-refs.test.ts';
import './attack/journal/forged-target.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
